"""nginx in front of the service, with the location of docs/deploying.md, with and without TLS."""

import base64
import hashlib
import pathlib
import re
import socket
import subprocess

from service import free_ports, wait_until


def openssl(*arguments, input=None):
    return subprocess.run(["openssl", *arguments], input=input, capture_output=True, check=True).stdout


class Certificate:
    """A certificate that no authority has signed."""

    def __init__(self, folder, *names):
        self.path, self.key = folder / "certificate.pem", folder / "key.pem"
        openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=take5", "-addext", "subjectAltName=" + ",".join(f"DNS:{name}" for name in names),
            "-keyout", self.key, "-out", self.path)
        public = openssl("pkey", "-pubin", "-outform", "der", input=openssl("x509", "-in", self.path, "-pubkey", "-noout"))
        # By this hash Chromium trusts the certificate, and no other one that it does not know.
        self.hash = base64.b64encode(hashlib.sha256(public).digest()).decode()


def location(upstream, more):
    """Returns the location of docs/deploying.md for a service at a port, with more directives."""
    text = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "deploying.md").read_text()
    directives = re.search(r"^```nginx\n.*?^  location / {\n(.*?)^  }$", text, re.M | re.S)[1]
    assert "http://127.0.0.1:8080;" in directives
    return "location / {\n" + directives.replace("http://127.0.0.1:8080;", f"http://127.0.0.1:{upstream};") + more + "\n}"


class Nginx:
    """nginx, which passes requests to the service, and serves a web page at several origins."""

    # From which it connects to the service.
    ADDRESS = "127.0.0.2"

    def __init__(self, program, folder, upstream, page):
        certificate = Certificate(folder, "api.localhost", "app.localhost", "other.localhost")
        self.certificate = certificate
        plain, tls, app, other, plain_app = self.ports = free_ports(5)
        self.url, self.secure_url = f"http://127.0.0.1:{plain}", f"https://api.localhost:{tls}"
        # The origins of the page. The service does not allow the other one.
        self.origin, self.other_origin = f"https://app.localhost:{app}", f"https://other.localhost:{other}"
        self.plain_origin = f"http://app.localhost:{plain_app}"
        pages = folder / "pages"
        pages.mkdir()
        (pages / "index.html").write_bytes(page.read_bytes())
        # An address of its own: what comes from a trusted proxy gets no interim responses.
        address = f"proxy_bind {Nginx.ADDRESS};"
        with_tls = f"ssl http2; ssl_certificate {certificate.path}; ssl_certificate_key {certificate.key}"
        configuration = folder / "nginx.conf"
        configuration.write_text(f"""
            daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.log; worker_processes 1;
            events {{ worker_connections 64; }}
            http {{
              access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
              fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
              server {{
                listen 127.0.0.1:{plain};
                listen 127.0.0.1:{tls} {with_tls};
                {location(upstream, address)}
              }}
              server {{
                listen 127.0.0.1:{app} {with_tls};
                listen 127.0.0.1:{other} {with_tls};
                listen 127.0.0.1:{plain_app};
                root {pages}; default_type text/html;
              }}
            }}""")
        self.process = subprocess.Popen([program, "-c", configuration, "-p", folder])
        wait_until(self.listens, "nginx listens")

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.ports[0])).close()
            return True
        except ConnectionRefusedError:
            assert self.process.poll() is None, "nginx has ended"
            return False

    def close(self):
        self.process.terminate()
        self.process.wait()
