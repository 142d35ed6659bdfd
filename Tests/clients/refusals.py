"""What a file costs that is refused while it is sent.

Its first 512 KiB show that it will be rejected. A client that sends as fast as the connection takes it, and looks for a response
only when the connection takes no more, has paid for the bytes that the service's machine has acknowledged."""

import contextlib
import json
import select
import socket
import struct

from drafts import CURRENT, path_of
from service import BYTES
from wire import Exchange, request

MAX_COST = 1_000_000
SHOWN = 512 << 10


def doomed():
    """A file whose box at 512 KiB is shorter than its own header."""
    start = struct.pack(">I4s4sI4s", 20, b"ftyp", b"isom", 0, b"isom")
    free = struct.pack(">I4s", SHOWN - len(start) - 8, b"free")
    data = start + free + bytes(SHOWN - len(start) - len(free) - 8) + struct.pack(">I4s", 4, b"moov")
    return data + bytes(BYTES - len(data))


def acknowledged(connection):
    """The bytes that the other end has acknowledged (tcp(7), TCP_INFO, tcpi_bytes_acked)."""
    return struct.unpack_from("Q", connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256), 120)[0]


def cost(url, method, path, header, body):
    """Sends a body; returns the response, and what was acknowledged until it came."""
    exchange = Exchange(url, method, path, {**header, "Content-Length": len(body)})
    view = memoryview(body)
    while view and not select.select([exchange.socket], [], [], 0)[0]:
        with contextlib.suppress(BlockingIOError):
            exchange.socket.setblocking(False)
            while view:
                view = view[exchange.socket.send(view[:1 << 16]):]
        # The connection takes no more, or there is a response.
        select.select([exchange.socket], [exchange.socket], [], 60)
    exchange.socket.settimeout(60)
    while not (response := exchange.receive()):
        pass
    paid = acknowledged(exchange.socket)
    exchange.close()
    return response, paid


def costs_little(url):
    """An upload and a form are refused with the code, the position and the remedy; then the upload takes no more bytes."""
    data = doomed()
    location = request(url, "POST", "/v1/uploads", {**CURRENT.create(False, 0), "Upload-Length": len(data)}).headers["location"]
    boundary = b"take5-clients"
    form = b"--" + boundary + b'\r\nContent-Disposition: form-data; name="front"; filename="a.mp4"\r\n\r\n' + data
    paid = {}
    for name, arguments in {
        "an upload": ("PATCH", path_of(location), CURRENT.append(0, len(data)), data),
        "a form": ("POST", "/v1/posts", {"Content-Type": f"multipart/form-data; boundary={boundary.decode()}"}, form),
    }.items():
        response, paid[name] = cost(url, *arguments)
        assert response.status == 422, response
        reason = json.loads(response.body)["reasons"][0]
        assert reason["code"] == "truncated_container" and reason["byte_offset"] == SHOWN - 8, reason
        assert paid[name] <= MAX_COST, f"{name}: {paid[name]} bytes"
    print(f"what a file of {len(data)} bytes costs that is refused at {SHOWN}: {paid}")
    # The client asks before it sends; nothing is asked for.
    exchange = Exchange(url, "PATCH", path_of(location), {**CURRENT.append(SHOWN, 1), "Expect": "100-continue"})
    response = exchange.finish()
    assert response.status == 422 and not exchange.interim, (response, exchange.interim)
