"""Phones that send their files slowly, all at once, from one thread."""

import select
import socket
import time

# A phone sends so often.
INTERVAL = 0.1
GROUPS = 10


class Request:
    """A request whose body is sent over some seconds. Without a path it is for the upload that was created before."""

    def __init__(self, method, path, headers, content=None, start=0, count=0, seconds=0):
        self.method, self.path, self.headers = method, path, headers
        self._content, self._start, self._count = content, start, count
        self._piece = max(1, -(-count // max(1, round(seconds / INTERVAL))))

    def pieces(self, path):
        """Yields what is sent at a time: the head, and then the body."""
        head = [f"{self.method} {self.path or path} HTTP/1.1", "Host: localhost", f"Content-Length: {self._count}"]
        head += [f"{name}: {value}" for name, value in self.headers.items()]
        yield "\r\n".join(head + ["", ""]).encode()
        for offset in range(0, self._count, self._piece):
            yield self._content.bytes(self._start + offset, min(self._piece, self._count - offset))


class Phone:
    """One connection with the requests that it sends, each after the response to the one before."""

    def __init__(self, address, requests):
        self._requests, self._path = iter(requests), None
        self._input, self._unsent = b"", b""
        self.waits, self.failure, self.is_done = [], None, False
        self.socket = socket.create_connection(address)
        self.socket.setblocking(False)
        self._begin()

    def _begin(self):
        request = next(self._requests, None)
        self._sent_at = None
        if request is None:
            return self._end()
        self._pieces = request.pieces(self._path)

    def _end(self, failure=None):
        self.failure, self.is_done = failure, True
        self.socket.close()

    def send(self):
        """Sends the next piece, or what the socket has not accepted of the one before."""
        if self.is_done or self._sent_at is not None:
            return
        self._unsent = self._unsent or next(self._pieces, b"")
        if not self._unsent:
            self._sent_at = time.monotonic()
            return
        try:
            self._unsent = self._unsent[self.socket.send(self._unsent):]
        except BlockingIOError:
            pass
        except OSError:
            # The service may have responded and closed the connection before the end: the response is read.
            self._unsent, self._pieces = b"", iter(())

    def receive(self):
        """Reads what has arrived; after a complete response, begins the next request."""
        try:
            received = self.socket.recv(1 << 16)
        except OSError as error:
            return self._end(type(error).__name__)
        self._input += received
        while self._input.startswith(b"HTTP/1.1 1") and b"\r\n\r\n" in self._input:
            self._input = self._input.partition(b"\r\n\r\n")[2]
        head, separator, body = self._input.partition(b"\r\n\r\n")
        if not separator:
            return None if received else self._end("disconnected")
        lines = head.decode().split("\r\n")
        fields = dict(line.lower().split(": ", 1) for line in lines[1:])
        if len(body) < int(fields.get("content-length", 0)):
            return None if received else self._end("disconnected")
        status = int(lines[0].split()[1])
        if status >= 300 or self._unsent:
            return self._end(f"status {status}")
        # The last piece and the response may come between two times of sending.
        self.waits.append(max(0, time.monotonic() - (self._sent_at or time.monotonic())))
        if self._path is None and "location" in fields:
            self._path = "/" + fields["location"].split("/", 3)[3]
        self._input = b""
        return self._begin()


def run(phones, timeout):
    """Lets all phones send until each is done, a tenth of them at a time; ends those that are not done after `timeout`."""
    poll, by_number = select.epoll(), {}
    for phone in phones:
        by_number[phone.socket.fileno()] = phone
        poll.register(phone.socket, select.EPOLLIN)
    start, tick = time.monotonic(), 0
    while any(not phone.is_done for phone in phones) and time.monotonic() < start + timeout:
        for phone in phones[tick % GROUPS::GROUPS]:
            phone.send()
        tick += 1
        while True:
            rest = start + tick * INTERVAL / GROUPS - time.monotonic()
            for number, _ in poll.poll(max(0, rest)):
                if not by_number[number].is_done:
                    by_number[number].receive()
            if rest <= 0:
                break
    for phone in phones:
        if not phone.is_done:
            phone._end("timeout")
