"""The keys and credentials of a test run, as Apple, Google and browsers issue them."""
import base64
import datetime
import json
import time

import http_ece
import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def pem(key):
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


def public_pem(key):
    return key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()


def point(key):
    return key.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def certificate(subject, key, issuer, issuer_key, authority, names=()):
    name = lambda text: x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = (x509.CertificateBuilder().subject_name(name(subject)).issuer_name(name(issuer)).public_key(key.public_key())
               .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(hours=1))
               .not_valid_after(now + datetime.timedelta(days=2)).add_extension(x509.BasicConstraints(authority, None), critical=True))
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
    return builder.sign(issuer_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


class Subscription:
    """A browser's subscription, with the private parts that only the browser has."""

    def __init__(self, port, name):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.secret = hashes_random()
        self.device = {"endpoint": f"https://localhost:{port}/push/{name}", "p256dh": b64(point(self.key)), "auth": b64(self.secret)}

    def decrypt(self, body):
        return json.loads(http_ece.decrypt(body, private_key=self.key, auth_secret=self.secret, version="aes128gcm"))


def hashes_random():
    return ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value.to_bytes(32, "big")[:16]


class Setup:
    key_id, team_id, topic = "ABC123DEFG", "DEF123GHIJ", "com.example.take5"
    project, email, fcm_key_id = "take5-test", "push@take5-test.iam.gserviceaccount.com", "1234567890abcdef"
    token_uri = "https://oauth2.googleapis.com/token"

    def __init__(self, folder):
        self.folder = folder
        curve = ec.SECP256R1()
        self.apns_key, self.vapid_key, authority, server, other = (ec.generate_private_key(curve) for _ in range(5))
        rsa_key, rsa_other = (rsa.generate_private_key(65537, 2048) for _ in range(2))
        self.write("ca.pem", certificate("test authority", authority, "test authority", authority, True))
        self.write("other.pem", certificate("other authority", other, "other authority", other, True))
        self.write("server.pem", certificate("localhost", server, "test authority", authority, False, ["localhost"]))
        self.write("server.key", pem(server))
        for name, key in (("apns", self.apns_key), ("apns-other", other)):
            self.write(f"{name}.p8", pem(key))
            self.write_json(f"{name}.json", {"key_id": self.key_id, "team_id": self.team_id, "topic": self.topic, "key_file": f"{name}.p8"})
        for name, key in (("fcm", rsa_key), ("fcm-other", rsa_other)):
            self.write_json(f"{name}.json", {
                "type": "service_account", "project_id": self.project, "private_key_id": self.fcm_key_id, "private_key": pem(key).decode(),
                "client_email": self.email, "client_id": "1", "token_uri": self.token_uri})
        self.write_json("vapid.json", {
            "subject": "mailto:ops@example.org", "private_key": b64(self.vapid_key.private_numbers().private_value.to_bytes(32, "big"))})
        self.vapid_public = b64(point(self.vapid_key))
        self.write_json("setup.json", {
            "key_id": self.key_id, "team_id": self.team_id, "topic": self.topic, "project": self.project, "email": self.email,
            "fcm_key_id": self.fcm_key_id, "token_uri": self.token_uri, "apns_public": public_pem(self.apns_key),
            "fcm_public": public_pem(rsa_key)})

    def write(self, name, data):
        (self.folder / name).write_bytes(data)

    def write_json(self, name, value):
        (self.folder / name).write_text(json.dumps(value))

    def subscription(self, port, name):
        return Subscription(port, name)

    def apns_authorization(self):
        token = jwt.encode({"iss": self.team_id, "iat": int(time.time())}, self.apns_key, algorithm="ES256", headers={"kid": self.key_id})
        return f"bearer {token}"
