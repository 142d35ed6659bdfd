"""provider.py FOLDER: a test APNs, FCM with its token server, and push service of browsers, on one port of localhost, over TLS and HTTP/2.

It refuses what Apple's, Google's and the RFCs' documents refuse, and misbehaves for devices whose names say so (FAULTS). FOLDER has the keys
(main.py makes them). The port is printed, or 300 of them with --ports; what is accepted is written to FOLDER/PORT.log, a line of JSON each.
"""
import asyncio
import base64
import json
import re
import socket
import ssl
import sys
import time
import urllib.parse
import uuid
from pathlib import Path

import h2.config
import h2.connection
import h2.events
import h2.exceptions
import jwt
from h2.settings import SettingCodes, Settings
from hyperframe.frame import GoAwayFrame

FOLDER = Path(sys.argv[1])
SETUP = json.loads((FOLDER / "setup.json").read_text())
QUIET = "--quiet" in sys.argv
STREAMS = 0 if "--no-streams" in sys.argv else 500

connections = 0  # all that were made
seen = set()
valid_tokens = {}  # provider tokens of Apple that are verified, with their iat
access_tokens = {}  # of Google, with their expiry
expired = set()  # authorizations that are refused from now on


def first(name):
    """Whether a fault is asked for the first time."""
    if name in seen:
        return False
    seen.add(name)
    return True


def log(provider, device, headers, body, authorization):
    if not QUIET:
        LOG.write(json.dumps({"provider": provider, "device": device, "headers": headers, "authorization": authorization,
                              "connections": connections, "body": base64.b64encode(body).decode()}) + "\n")


# Apple -----------------------------------------------------------------------------------------------------------------------------------

APNS_FAULTS = {
    "bad0": (400, "BadDeviceToken"), "4130": (413, "PayloadTooLarge"), "5000": (500, "InternalServerError"),
    "4290": (429, "TooManyRequests"), "4001": (400, "DeviceTokenNotForTopic"),
}


def apns_token(authorization):
    """What Apple says of a provider token; nil if it is valid."""
    if authorization is None:
        return 403, "MissingProviderToken"
    if authorization in expired:
        return 403, "ExpiredProviderToken"
    issued = valid_tokens.get(authorization)
    if issued is None:
        if not authorization.startswith("bearer "):
            return 403, "InvalidProviderToken"
        token = authorization[7:]
        try:
            header = jwt.get_unverified_header(token)
            claims = jwt.decode(token, SETUP["apns_public"], algorithms=["ES256"], options={"require": ["iss", "iat"]})
        except jwt.PyJWTError:
            return 403, "InvalidProviderToken"
        if header["alg"] != "ES256" or header.get("kid") != SETUP["key_id"] or claims["iss"] != SETUP["team_id"]:
            return 403, "InvalidProviderToken"
        issued = valid_tokens[authorization] = claims["iat"]
    if not -60 <= time.time() - issued <= 3600:
        return 403, "ExpiredProviderToken"
    return None


def apns(connection, stream, headers, body):
    def refuse(status, reason, **more):
        fields = {"retry-after": str(more.pop("retry_after"))} if "retry_after" in more else {}
        return status, fields, json.dumps({"reason": reason, **more}).encode()

    device = headers[":path"][len("/3/device/"):]
    authorization = headers.get("authorization")
    fault = device[:4]
    if fault == "4030" and first(device):
        expired.add(authorization)
    if fault == "4031":
        return refuse(403, "ExpiredProviderToken")
    if refusal := apns_token(authorization):
        return refuse(*refusal)
    if not re.fullmatch("[0-9a-fA-F]{64,200}", device):
        return refuse(400, "BadDeviceToken")
    if "apns-topic" not in headers:
        return refuse(400, "MissingTopic")
    if headers["apns-topic"] != SETUP["topic"]:
        return refuse(400, "BadTopic")
    if headers.get("apns-push-type") not in ("alert", "background"):
        return refuse(400, "InvalidPushType")
    is_shown = headers["apns-push-type"] == "alert"
    if headers.get("apns-priority") not in (("10", "5", "1") if is_shown else ("5",)):
        return refuse(400, "BadPriority")
    if not headers.get("apns-expiration", "").isdigit():
        return refuse(400, "BadExpirationDate")
    if len(headers.get("apns-collapse-id", "")) > 64:
        return refuse(400, "BadCollapseId")
    identity = headers.get("apns-id", "")
    try:
        if str(uuid.UUID(identity)) != identity:
            return refuse(400, "BadMessageId")
    except ValueError:
        return refuse(400, "BadMessageId")
    if not body:
        return refuse(400, "PayloadEmpty")
    if len(body) > 4096:
        return refuse(413, "PayloadTooLarge")
    aps = json.loads(body)["aps"]
    if is_shown:
        assert isinstance(aps["alert"]["title"], str) and isinstance(aps["alert"]["body"], str)
    else:
        assert aps == {"content-available": 1}, aps
    if fault in APNS_FAULTS:
        return refuse(*APNS_FAULTS[fault])
    if fault == "4100":
        return refuse(410, "Unregistered", timestamp=1_700_000_000_000)
    if fault == "5031" and first(device):
        return refuse(503, "ServiceUnavailable", retry_after=1)
    if fault == "5039":
        return refuse(503, "ServiceUnavailable", retry_after=600)
    if fault == "60a0" and first(device):
        return connection.go_away(stream)
    if fault == "57a1":
        return None
    if fault == "dead":
        return connection.freeze()
    if fault == "c105":
        return connection.cut()
    log("apns", device, headers, body, authorization)
    return 200, {"apns-id": identity}, b""


# Google ----------------------------------------------------------------------------------------------------------------------------------

def fcm_error(status, text, code=None, retry_after=None, field=None):
    details = []
    if code:
        details.append({"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": code})
    if field:
        details.append({"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [{"field": field}]})
    fields = {"retry-after": str(retry_after)} if retry_after else {}
    return status, fields, json.dumps({"error": {"code": status, "message": "…", "status": text, "details": details}}).encode()


FCM_FAULTS = {
    "unregistered": fcm_error(404, "NOT_FOUND", "UNREGISTERED"),
    "mismatch": fcm_error(403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH"),
    "malformed": fcm_error(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", field="message.token"),
    "invalid": fcm_error(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", field="message.data"),
    "quota": fcm_error(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED"),
    "internal": fcm_error(500, "INTERNAL", "INTERNAL"),
    "unavailable": fcm_error(503, "UNAVAILABLE", "UNAVAILABLE", retry_after=1),
    "thirdparty": fcm_error(401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR"),
}
ALLOWED = {
    "": {"token", "notification", "data", "android", "apns"}, "notification": {"title", "body", "image"},
    "android": {"collapse_key", "priority", "ttl", "notification"}, "apns": {"headers", "payload"},
}


def fcm(connection, stream, headers, body):
    authorization = headers.get("authorization", "")
    message = json.loads(body)["message"]
    device = message["token"]
    if device.startswith("expired") and first(device):
        expired.add(authorization)
    if access_tokens.get(authorization.removeprefix("Bearer "), 0) < time.time() or authorization in expired:
        return fcm_error(401, "UNAUTHENTICATED")
    if headers[":path"] != f"/v1/projects/{SETUP['project']}/messages:send":
        return fcm_error(404, "NOT_FOUND")
    for part, names in ALLOWED.items():
        if set(message[part] if part else message) - names:
            return fcm_error(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", field=part)
    if len(body) > 4096 or not all(isinstance(value, str) for value in message["data"].values()):
        return fcm_error(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", field="message.data")
    if message["android"]["priority"] not in ("HIGH", "NORMAL") or not re.fullmatch(r"\d+s", message["android"]["ttl"]):
        return fcm_error(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", field="message.android")
    if device.startswith("silent"):
        return None
    for name, refusal in FCM_FAULTS.items():
        if device.startswith(name):
            return refusal
    log("fcm", device, headers, body, authorization)
    return 200, {}, json.dumps({"name": f"projects/{SETUP['project']}/messages/{uuid.uuid4()}"}).encode()


def token(connection, stream, headers, body):
    form = dict(urllib.parse.parse_qsl(body.decode(), strict_parsing=True))
    try:
        assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
        claims = jwt.decode(form["assertion"], SETUP["fcm_public"], algorithms=["RS256"], audience=SETUP["token_uri"],
                            issuer=SETUP["email"], options={"require": ["iss", "aud", "iat", "exp", "scope"]})
        assert jwt.get_unverified_header(form["assertion"])["kid"] == SETUP["fcm_key_id"]
        assert claims["exp"] - claims["iat"] <= 3600
        assert claims["scope"] == "https://www.googleapis.com/auth/firebase.messaging"
    except (jwt.PyJWTError, AssertionError, KeyError):
        return 400, {}, b'{"error": "invalid_grant"}'
    value = uuid.uuid4().hex
    access_tokens[value] = time.time() + 3600
    return 200, {}, json.dumps({"access_token": value, "expires_in": 3599, "token_type": "Bearer"}).encode()


# Browsers --------------------------------------------------------------------------------------------------------------------------------

def web_push(connection, stream, headers, body):
    device = headers[":path"][len("/push/"):]
    if headers.get("content-encoding") != "aes128gcm" or not headers.get("ttl", "").isdigit():
        return 400, {}, b""
    if headers.get("urgency") not in ("very-low", "low", "normal", "high"):
        return 400, {}, b""
    if not re.fullmatch("[A-Za-z0-9_-]{1,32}", headers.get("topic", "x")):
        return 400, {}, b""
    if len(body) > 4096:
        return 413, {}, b""
    if device == "gone":
        return 410, {}, b""
    if device == "redirect":
        return 301, {"location": f"https://localhost:{PORT}/push/other"}, b""
    if device == "paused":
        return 429, {"retry-after": "600"}, b""
    if device == "busy" and first(device):
        return 429, {"retry-after": time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 1))}, b""
    log("webpush", device, headers, body, headers.get("authorization"))
    return 201, {"location": f"https://localhost:{PORT}/message/1"}, b""


ROUTES = [("/3/device/", apns), ("/v1/projects/", fcm), ("/token", token), ("/push/", web_push)]


class Connection(asyncio.Protocol):
    def connection_made(self, transport):
        global connections
        connections += 1
        self.transport = transport
        self.requests = {}
        self.last = None  # the last stream that is answered after a GOAWAY
        self.frozen = False
        # The client's fields are checked by h2; those of this server need no check.
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(
            client_side=False, header_encoding="utf-8", validate_outbound_headers=False, normalize_outbound_headers=False))
        self.h2.local_settings = Settings(client=False, initial_values={SettingCodes.MAX_CONCURRENT_STREAMS: STREAMS})
        self.h2.initiate_connection()
        self.h2.increment_flow_control_window(1 << 24)
        if "--closing" in sys.argv:
            self.go_away(2)
        if "--trickling" in sys.argv:
            # The header of a SETTINGS frame of 180 bytes, and then one of them a second.
            self.frozen = True
            transport.write(bytes([0, 0, 180, 4, 0, 0, 0, 0, 0]))
            return self.trickle()
        transport.write(self.h2.data_to_send())
        if "--freezing" in sys.argv and first("connection"):
            # Reads nothing: what does not fit into the buffers of the kernel stays with the client.
            self.freeze()
            time.sleep(1)
            LISTENERS[0].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
            transport.abort()

    def trickle(self):
        if not self.transport.is_closing():
            self.transport.write(b"\0")
            asyncio.get_running_loop().call_later(1, self.trickle)

    def data_received(self, data):
        if self.frozen:
            return
        try:
            events = self.h2.receive_data(data)
        except h2.exceptions.ProtocolError as error:
            LOG.write(json.dumps({"provider": "error", "device": str(error)}) + "\n")
            self.transport.write(self.h2.data_to_send())
            return self.transport.close()
        for event in events:
            if isinstance(event, h2.events.RequestReceived):
                self.requests[event.stream_id] = (dict(event.headers), bytearray())
            elif isinstance(event, h2.events.DataReceived) and event.stream_id in self.requests:
                self.requests[event.stream_id][1].extend(event.data)
            elif isinstance(event, h2.events.StreamEnded):
                self.answer(event.stream_id)
                if self.frozen:
                    return
            elif isinstance(event, h2.events.StreamReset):
                self.requests.pop(event.stream_id, None)
        if self.h2.inbound_flow_control_window < 1 << 23:
            self.h2.increment_flow_control_window((1 << 24) - self.h2.inbound_flow_control_window)
        self.transport.write(self.h2.data_to_send())
        if self.last is not None:
            self.transport.close()

    def answer(self, stream):
        headers, body = self.requests.pop(stream)
        if self.last is not None and stream > self.last:
            return
        handler = next((handler for path, handler in ROUTES if headers[":path"].startswith(path)), None)
        assert handler and headers[":method"] == "POST" and headers[":scheme"] == "https"
        answer = handler(self, stream, headers, bytes(body))
        if answer is None:
            return
        status, fields, text = answer
        self.h2.send_headers(stream, [(":status", str(status)), *fields.items()], end_stream=not text)
        if text:
            self.h2.send_data(stream, text, end_stream=True)

    def go_away(self, stream):
        """Answers what came before a stream, neither it nor what comes after, and closes."""
        self.last = stream - 2
        frame = GoAwayFrame(0, last_stream_id=self.last, error_code=0, additional_data=b'{"reason":"Shutdown"}')
        self.transport.write(self.h2.data_to_send() + frame.serialize())

    def freeze(self):
        self.frozen = True

    def cut(self):
        self.frozen = True
        self.transport.abort()


async def main():
    global PORT, LOG, LISTENERS
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(FOLDER / "server.pem", FOLDER / "server.key")
    context.set_alpn_protocols(["h2"])
    LISTENERS = [socket.create_server(("127.0.0.1", 0)) for _ in range(300 if "--ports" in sys.argv else 1)]
    ports = [listener.getsockname()[1] for listener in LISTENERS]
    PORT = ports[0]
    LOG = open(FOLDER / f"{PORT}.log", "w", buffering=1)
    for listener in LISTENERS:
        if "--freezing" in sys.argv:
            # The kernel of the client buffers little for small segments and a small window.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
        await asyncio.get_running_loop().create_server(Connection, sock=listener, ssl=context)
    print(*ports, flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
