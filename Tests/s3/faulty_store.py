"""A proxy before an object store that breaks requests."""

import collections
import random
import socket
import struct
import threading
import time

# What happens to a request, and how often.
FAULTS = {
    "reset before": 1,  # before the store sees it
    "reset in request": 3,  # after a part of the body
    "reset in response": 3,  # after a part of the response
    "lost response": 3,  # after the store has done what it says
    "SlowDown": 3,
    "InternalError": 1,
    "silence": 1,  # no response, for longer than a client waits
    "stall in response": 1,  # after a part of the response, for as long
}
# Longer than take5 waits for a byte of an object.
SILENCE = 12
ERROR = b"<?xml version='1.0'?><Error><Code>%s</Code><Message>Wait</Message></Error>"


class FaultyStore:
    """The proxy, on a port of its own. It breaks each request with a probability until `remaining` is 0."""

    def __init__(self, target, seed, probability=0.1):
        self.target, self.random, self.probability = target, random.Random(seed), probability
        self.remaining, self.done, self.lock = 0, collections.Counter(), threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def fault(self):
        with self.lock:
            if self.remaining == 0 or self.random.random() > self.probability:
                return None
            self.remaining -= 1
            kind = self.random.choices(list(FAULTS), FAULTS.values())[0]
            self.done[kind] += 1
            return kind

    def serve(self, client):
        try:
            store = socket.create_connection(self.target)
            with client, store:
                reader, replies = client.makefile("rb"), store.makefile("rb")
                while self.forward(client, reader, store, replies):
                    pass
        except OSError:
            reset(client)

    def forward(self, client, reader, store, replies):
        """Forwards a request and its response; false after the last one."""
        head, fields = read_head(reader)
        if not head:
            return False
        fault, method = self.fault(), head.split(b" ", 1)[0]
        if fault == "silence":
            time.sleep(SILENCE)
        if fault in ("reset before", "silence"):
            return reset(client)
        if fault in ("SlowDown", "InternalError"):
            status = b"503 Slow Down" if fault == "SlowDown" else b"500 Internal Server Error"
            body = ERROR % fault.encode()
            client.sendall(
                b"HTTP/1.1 %s\r\nContent-Type: application/xml\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
                % (status, len(body), body))
            return False
        store.sendall(head)
        length = int(fields.get(b"content-length", 0))
        if length and b"expect" in fields:
            interim, answered = read_head(replies, b"HTTP/")
            if b" 100 " not in interim.split(b"\r\n", 1)[0]:
                client.sendall(interim + read_body(replies, answered))
                return False
            client.sendall(interim)
        whole = length if fault != "reset in request" else self.random.randrange(length + 1)
        copy(reader, whole, store)
        if fault == "reset in request":
            return reset(client)
        response, answered = read_head(replies, b"HTTP/")
        if fault == "lost response":
            return reset(client)
        has_body = method != b"HEAD" and not any(code in response[:16] for code in (b" 204", b" 304"))
        body = read_body(replies, answered) if has_body else b""
        if fault in ("reset in response", "stall in response"):
            client.sendall(response + body[:self.random.randrange(len(body) + 1)])
            if fault == "stall in response":
                time.sleep(SILENCE)
            return reset(client)
        client.sendall(response + body)
        return answered.get(b"connection") != b"close"


def read_head(reader, start=b""):
    """Returns the bytes of a head and its fields. What comes before its start is skipped: OpenStack Swift sends an empty chunk after
    the head of a response to HEAD."""
    lines = []
    while line := reader.readline():
        if not lines and not line.startswith(start):
            continue
        lines.append(line)
        if line == b"\r\n":
            break
    fields = dict(line.rstrip(b"\r\n").split(b": ", 1) for line in lines[1:-1])
    return b"".join(lines), {name.lower(): value.lower() for name, value in fields.items()}


def read_body(reader, fields):
    """Returns the bytes of a body as they are sent, in chunks or not."""
    if fields.get(b"transfer-encoding") != b"chunked":
        return reader.read(int(fields.get(b"content-length", 0)))
    body = b""
    while True:
        size = reader.readline()
        chunk = reader.read(int(size, 16) + 2)
        body += size + chunk
        if int(size, 16) == 0:
            return body


def copy(source, count, target):
    while count and (chunk := source.read(min(count, 1 << 16))):
        target.sendall(chunk)
        count -= len(chunk)


def reset(client):
    """Ends a connection with a reset."""
    try:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.shutdown(socket.SHUT_RD)
    except OSError:
        pass
    client.close()
    return False
