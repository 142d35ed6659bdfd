"""HTTP/1.1 as bytes on a connection: libraries hide interim responses, or take those for final ones that they do not know."""

import dataclasses
import select
import socket
import urllib.parse

from service import AUTHORIZATION, TIMEOUT


@dataclasses.dataclass
class Response:
    status: int
    reason: str
    # By the name in lower case.
    headers: dict
    body: bytes = b""


class Exchange:
    """A request on a connection of its own, whose body is sent in pieces, and its responses."""

    def __init__(self, url, method, path, headers, version="HTTP/1.1"):
        address = urllib.parse.urlsplit(url)
        self.method, self.interim, self.buffer = method, [], b""
        self.socket = socket.create_connection((address.hostname, address.port), timeout=TIMEOUT)
        fields = {"Host": address.netloc, **AUTHORIZATION, **headers}
        lines = [f"{method} {path} {version}", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
        self.socket.sendall("\r\n".join(lines).encode())

    def send(self, body):
        """Sends a part of the body, and receives the interim responses that have arrived meanwhile. Returns the final
        response if it has come before the end of the part."""
        view = memoryview(body)
        while view:
            readable, writable, _ = select.select([self.socket], [self.socket], [], TIMEOUT)
            if readable and (response := self.receive()):
                return response
            if writable:
                view = view[self.socket.send(view[: 1 << 18]):]
        return None

    def receive(self):
        """Receives one response. Returns it if it is final; an interim one is added to `interim`."""
        while b"\r\n\r\n" not in self.buffer:
            self.fill()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        first, *lines = head.decode().split("\r\n")
        _, status, *reason = first.split(" ", 2)
        fields = (line.split(":", 1) for line in lines)
        response = Response(int(status), " ".join(reason), {name.lower(): value.strip() for name, value in fields})
        if response.status < 200:
            self.interim.append(response)
            return None
        length = 0 if self.method == "HEAD" else int(response.headers.get("content-length", 0))
        while len(self.buffer) < length:
            self.fill()
        response.body = self.buffer[:length]
        return response

    def finish(self):
        """Returns the final response, and closes the connection."""
        while True:
            if response := self.receive():
                self.close()
                return response

    def fill(self):
        data = self.socket.recv(1 << 16)
        if not data:
            raise ConnectionResetError("the connection ended before the response")
        self.buffer += data

    def close(self):
        self.socket.close()


def request(url, method, path, headers, body=b""):
    """Sends a request with a body, which is bytes or an iterable of them, on a new connection; returns the final response."""
    exchange = Exchange(url, method, path, headers)
    for part in [body] if isinstance(body, bytes) else body:
        if response := exchange.send(part):
            exchange.close()
            return response
    return exchange.finish()
