"""Sends uploads with clients that others wrote, through kills of the service, directly and through nginx:

uploads.py PATH-OF-take5 PATH-OF-nginx

A file of 20 MB is sent in each way. In the middle of the request the service is killed and started again; the client goes on by
itself. Then the bytes are compared."""

import asyncio
import hashlib
import http.client
import io
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import aiotus
import tusclient.client

KEY = "test-clients-key"
BYTES = 20 << 20
AUTHORIZATION = {"Authorization": f"Bearer {KEY}"}


def free_port():
    """Returns a port on which no program listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Service:
    """The service, which can be killed and started again on the same port."""

    def __init__(self, program, folder):
        self.program, self.data, self.port = program, folder / "data", free_port()
        self.log = (folder / "service.log").open("ab")
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [self.program, "serve", "--slots", "0", "--listen", f"127.0.0.1:{self.port}", "--data", self.data],
            env={**os.environ, "TAKE5_API_KEY": KEY}, stdout=subprocess.PIPE, stderr=self.log)
        if not self.process.stdout.readline():
            raise SystemExit(f"the service did not start: {self.log.name}")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def files(self):
        """The files of all uploads."""
        return [path for path in (self.data / "blobs" / "uploads").glob("*") if not path.suffix]

    def restart_after(self, size):
        """Kills the service once an upload that is not whole has more bytes than `size`, and starts it again. Returns the
        thread that does so."""

        def watch():
            while not any(size < path.stat().st_size < BYTES for path in self.files()):
                time.sleep(0.001)
            self.kill()
            self.start()

        thread = threading.Thread(target=watch)
        thread.start()
        return thread


class Nginx:
    """nginx in front of the service, with the settings of docs/deploying.md for uploads."""

    def __init__(self, program, folder, upstream):
        self.port = free_port()
        configuration = folder / "nginx.conf"
        configuration.write_text(f"""
            daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.log; worker_processes 1;
            events {{ worker_connections 64; }}
            http {{
              access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
              fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
              server {{
                listen 127.0.0.1:{self.port};
                client_max_body_size 0; proxy_request_buffering off; proxy_http_version 1.1;
                location / {{ proxy_pass http://127.0.0.1:{upstream}; proxy_set_header Host $http_host;
                              proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Proto $scheme; }}
              }}
            }}""")
        self.process = subprocess.Popen([program, "-c", configuration, "-p", folder])
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except ConnectionRefusedError:
                time.sleep(0.01)

    def stop(self):
        self.process.terminate()
        self.process.wait()


def content(name):
    """Returns 20 MB that are the same for a name in every run."""
    return hashlib.shake_128(name.encode()).digest(BYTES)


def slowly(bytes):
    """Returns a file that is read at the speed of a fast phone, so that a kill comes in the middle."""

    class Slow(io.BytesIO):
        def read(self, count=-1):
            data = super().read(min(count, 1 << 18) if count > 0 else 1 << 18)
            time.sleep(0.004)
            return data

    return Slow(bytes)


def through_tuspy(service, url, bytes):
    """tuspy sends again by itself what failed."""
    client = tusclient.client.TusClient(f"{url}/v1/uploads", headers=AUTHORIZATION)
    uploader = client.uploader(file_stream=io.BytesIO(bytes), chunk_size=1 << 20, retries=60, retry_delay=1)
    killer = service.restart_after(BYTES // 3)
    uploader.upload()
    killer.join()
    return uploader.url


def through_aiotus(service, url, bytes):
    """aiotus asks for the offset and sends the rest by itself."""
    killer = service.restart_after(BYTES // 3)
    retries = aiotus.RetryConfiguration(retry_attempts=30, max_retry_period_seconds=2)
    location = asyncio.run(
        aiotus.upload(
            f"{url}/v1/uploads", io.BytesIO(bytes), metadata={}, headers=AUTHORIZATION, config=retries, chunksize=1 << 20))
    killer.join()
    return str(location)


def request(url, method, path, headers, body=None):
    """Sends a request on a new connection; returns the status and the header of the response."""
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=60)
    connection.request(method, path, body, {**AUTHORIZATION, **headers})
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status, response.headers


def through_draft(service, url, bytes, *, field, more, last, extra, type):
    """Requests as a client of an IETF draft sends them."""
    status, headers = request(url, "POST", "/v1/uploads", {**extra, field: more, "Content-Length": "0"}, b"")
    assert status == 201, status
    path = urllib.parse.urlsplit(headers["Location"]).path
    killer = service.restart_after(BYTES // 3)
    done = False
    while not done:
        try:
            status, headers = request(url, "HEAD", path, extra)
            if status in (502, 503, 504):
                continue
            assert status == 204, status
            offset = int(headers["Upload-Offset"])
            status, headers = request(
                url, "PATCH", path, {**extra, **type, field: last, "Upload-Offset": str(offset),
                                     "Content-Length": str(BYTES - offset)}, slowly(bytes[offset:]))
            done = status == 204
            assert done or status in (409, 502, 503, 504), status
        except (ConnectionError, http.client.HTTPException, TimeoutError):
            time.sleep(0.05)
    killer.join()
    assert headers[field] == last, headers
    return url + path


def through_current_draft(service, url, bytes):
    return through_draft(
        service, url, bytes, field="Upload-Complete", more="?0", last="?1", extra={},
        type={"Content-Type": "application/partial-upload"})


def through_draft_of_ios(service, url, bytes):
    return through_draft(
        service, url, bytes, field="Upload-Incomplete", more="?1", last="?0",
        extra={"Upload-Draft-Interop-Version": "3"}, type={})


def main():
    take5, nginx = (str(pathlib.Path(argument).resolve()) for argument in sys.argv[1:3])
    with tempfile.TemporaryDirectory(prefix="take5-clients-") as name:
        folder = pathlib.Path(name)
        # PostgreSQL runs as another user, which must be able to enter the folder.
        folder.chmod(0o755)
        service = Service(take5, folder)
        proxy = Nginx(nginx, folder, service.port)
        try:
            for place, port in [("directly", service.port), ("through nginx", proxy.port)]:
                for send in [through_tuspy, through_aiotus, through_current_draft, through_draft_of_ios]:
                    bytes = content(f"{send.__name__} {place}")
                    location = send(service, f"http://127.0.0.1:{port}", bytes)
                    upload = service.data / "blobs" / "uploads" / location.rsplit("/", 1)[1]
                    assert upload.read_bytes() == bytes, f"{send.__name__}: other bytes"
                    status, _ = request(f"http://127.0.0.1:{port}", "DELETE", urllib.parse.urlsplit(location).path, {})
                    assert status == 204, status
                    print(f"{send.__name__}, {place}: {len(bytes)} bytes, with the service killed in the middle")
        finally:
            proxy.stop()
            service.stop()
    print("all uploads are whole")


main()
