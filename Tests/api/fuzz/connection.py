"""Connections that send exact bytes, and a clock that is slow on a busy machine."""

import socket
import threading
import time


class NoAnswer(Exception):
    """The service closed the connection, or sent nothing in time."""


class Clock:
    """Seconds as long as this process gets what it asks of the processors, and fewer on a busy machine, so that waiting for the
    machine is no hang."""

    def __init__(self):
        self.seconds = 0.0
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            began, used = time.monotonic(), time.thread_time()
            time.sleep(0.095)
            worked = time.monotonic()
            while time.thread_time() - used < 0.005:
                pass
            now = time.monotonic()
            self.seconds += (now - began) * min(1, 0.005 / (now - worked))


class Connection:
    """A connection, which is opened again when the service has closed it."""

    def __init__(self, port, clock):
        self.port, self.clock, self.socket, self.buffer, self.end = port, clock, None, b"", 0

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket, self.buffer = None, b""

    def send(self, exchange):
        """Sends a request; its response is received later, so that several are under way."""
        exchange.began = time.monotonic()
        is_fresh = self.socket is None
        try:
            if is_fresh:
                self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=30)
            elif self.has_ended():
                self.close()
                return self.send(exchange)
            self.socket.settimeout(30)
            self.socket.sendall(exchange.head + exchange.body)
        except OSError as failure:
            # A response may have come before the body is sent.
            if not exchange.body:
                self.close()
                raise NoAnswer(f"the connection was refused or closed: {failure}") from failure

    def has_ended(self):
        """Whether the service has closed the connection since its last response."""
        self.socket.settimeout(0)
        try:
            return not self.socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def receive(self, exchange, timeout):
        """Receives the response, waiting for at most so many seconds of the clock for each piece of it."""
        self.timeout = timeout
        try:
            while True:
                status, fields = self.head()
                if status >= 200:
                    break
            exchange.answer = fields
            exchange.content = self.body(exchange, status, fields)
            exchange.status = status
        except (OSError, ValueError, AttributeError) as failure:
            self.close()
            raise NoAnswer(str(failure) or type(failure).__name__) from failure
        finally:
            exchange.ended = time.monotonic()
        if fields.get("connection") == "close" or exchange.length is not None:
            self.close()

    def fill(self):
        end = self.clock.seconds + self.timeout
        self.socket.settimeout(0.5)
        while True:
            try:
                data = self.socket.recv(1 << 16)
                break
            except TimeoutError:
                if self.clock.seconds > end:
                    raise TimeoutError("no answer in time") from None
        if not data:
            raise ValueError("the service closed the connection")
        self.buffer += data

    def line(self):
        while b"\r\n" not in self.buffer:
            self.fill()
        line, self.buffer = self.buffer.split(b"\r\n", 1)
        return line.decode("latin-1")

    def bytes(self, count):
        while len(self.buffer) < count:
            self.fill()
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def head(self):
        status, fields = int(self.line().split(" ")[1]), {}
        while line := self.line():
            name, _, value = line.partition(":")
            fields[name.lower()] = value.strip()
        return status, fields

    def body(self, exchange, status, fields):
        if exchange.method == "HEAD" or status in (204, 304):
            return b""
        if fields.get("content-type", "").startswith("text/event-stream"):
            return self.first_event()
        if fields.get("transfer-encoding") == "chunked":
            return b"".join(iter(self.chunk, b""))
        return self.bytes(int(fields["content-length"])) if "content-length" in fields else b""

    def chunk(self):
        return self.bytes(int(self.line(), 16) + 2)[:-2]

    def first_event(self):
        """The start of a stream, whose end is not waited for."""
        data = b""
        self.timeout = 1
        try:
            while b"\n\n" not in data and (chunk := self.chunk()):
                data += chunk
        except (TimeoutError, ValueError):
            pass
        self.close()
        return data
