"""What is kept of each exchange: the request, as it may be sent again, and its response."""

import collections
import itertools
import shlex
import threading


class Exchange:
    """A request and its response."""

    numbers = itertools.count(1)

    def __init__(self, actor, operation, method, target, headers=(), body=b"", length=None, timeout=None):
        """
        operation: the operation of the document; None: the request has none.
        length: the Content-Length that the head claims; None: the body's.
        timeout: the seconds after which the client leaves; None: it waits for the answer.
        """
        self.number, self.actor, self.operation, self.method, self.target = next(self.numbers), actor, operation, method, target
        self.headers, self.body, self.length, self.timeout = list(headers), body, length, timeout
        self.began = self.ended = self.status = self.failure = None
        self.answer, self.content, self.values = {}, b"", {}

    @property
    def head(self):
        lines = [f"{self.method} {self.target} HTTP/1.1", "Host: localhost"]
        lines += [f"{name}: {value}" for name, value in [*self.actor.headers(), *self.headers]]
        if self.length is not None or self.body or self.method in ("POST", "PUT", "PATCH"):
            lines.append(f"Content-Length: {len(self.body) if self.length is None else self.length}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "surrogatepass")

    def __str__(self):
        """The request as raw HTTP for printf, and what came back."""
        sent = self.head + self.body
        escape = lambda byte: chr(byte) if 32 <= byte < 127 and chr(byte) not in "%\\" else f"\\{byte:03o}"
        rest = f"  # and {len(sent) - 2000} bytes" if len(sent) > 2000 else ""
        answer = self.failure or (f"{self.status} {self.content[:300]!r}" if self.status else "no answer yet")
        request = shlex.quote("".join(escape(byte) for byte in sent[:2000]))
        return f"#{self.number} {self.actor.name}: printf {request} | nc 127.0.0.1 PORT{rest}\n      {answer}"


class Journal:
    """The latest exchanges, and the numbers of all by operation and status."""

    def __init__(self):
        self.lock, self.latest, self.counts = threading.Lock(), collections.deque(maxlen=6000), collections.Counter()

    def add(self, exchange):
        with self.lock:
            self.latest.append(exchange)

    def count(self, exchange):
        with self.lock:
            self.counts[exchange.operation.id if exchange.operation else "of no operation", exchange.status or "none"] += 1

    def leading_to(self, exchange, most=12):
        """The exchanges that concern what a request names, and those that were under way with it, in their order."""
        ids = [part for part in exchange.target.split("?")[0].split("/") if len(part) == 36]
        with self.lock:
            latest = list(self.latest)
        related = [
            other for other in latest if other is not exchange and other.began and (
                any(id in other.target or id.encode() in other.content for id in ids)
                or other.ended is None or other.ended > (exchange.began or 0))]
        return related[-most:]

    def has_rivals(self, exchange):
        """Whether another request to the same path was under way with this one."""
        with self.lock:
            return any(
                other is not exchange and other.target == exchange.target and other.began and (other.ended or exchange.began) >= exchange.began
                for other in self.latest)

    def unanswered(self):
        """The exchanges that no answer has ended, and those just before."""
        with self.lock:
            latest = list(self.latest)
        return [other for other in latest if other.began and other.status is None][-20:] or latest[-20:]
