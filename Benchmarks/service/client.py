"""A client, which sends moments and waits for them, and what the processes of a service use meanwhile."""

import contextlib
import http.client
import itertools
import json
import pathlib
import socket
import threading
import time

from content import Clip, Moment
from processes import cpu, descendants

# After so many seconds a moment counts as lost.
TIMEOUT = 600


class Failure(Exception):
    """The reason why a service cannot be measured."""


class Form(Moment):
    """The form of a moment, with the clips of the benchmark: the same for all services."""

    def __init__(self, front, back):
        super().__init__()
        self._clips = {"front": Clip(front.resolve()), "back": Clip(back.resolve())}


class Memory(threading.Thread):
    """Reads once a second what processes occupy: pages that several share count once."""

    def __init__(self, pids):
        super().__init__(daemon=True)
        self._pids, self._ended, self.peak = pids, threading.Event(), 0

    def run(self):
        while not self._ended.wait(1):
            self.peak = max(self.peak, sum(self._resident(pid) for pid in self._pids()))

    def stop(self):
        """Returns the largest sum in MB."""
        self._ended.set()
        self.join()
        return self.peak / 1e6

    @staticmethod
    def _resident(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError, PermissionError):
            for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
        return 0


class Contestant:
    """A service with two slots, as its clients see it. Its data stay between two starts."""

    def until(self, condition):
        """Waits for a condition, while all processes run."""
        while not condition():
            self.check()
            time.sleep(0.05)

    def listens(self):
        with contextlib.suppress(OSError), socket.create_connection(self.address):
            return True
        return False

    def processes(self):
        return [pid for root in self.roots() for pid in descendants(root)]

    def cpu(self):
        """The CPU seconds of all processes, with PostgreSQL and what they have started."""
        return cpu(self.processes())

    def request(self, status, method, path, headers, content=None):
        """Sends a request whose response must have a status; returns the body, and the time of the last byte that was sent."""
        self.check()
        connection = http.client.HTTPConnection(*self.address, timeout=TIMEOUT)
        try:
            connection.putrequest(method, path)
            for name, value in (headers | {"Content-Length": len(content or b"")}).items():
                connection.putheader(name, str(value))
            connection.endheaders()
            for segment in content.segments if content else ():
                connection.send(segment)
            sent = time.monotonic()
            response = connection.getresponse()
            body = response.read()
        finally:
            connection.close()
        if response.status != status:
            raise Failure(f"{method} {path}: {response.status} {body[:500].decode(errors='replace')}")
        return body, sent

    def follow(self, form, author):
        """Submits a moment and waits. Returns the seconds from the last byte until the image is at the client and until the moment is
        ready, and its outputs by role."""
        headers = {"Take5-User": author}
        body, sent = self.request(202, "POST", self.PATH, form.headers | headers, form.new(author))
        path = f"{self.PATH}/{json.loads(body)['id']}"
        record, at = self._wait(path, headers, self.FIRST, lambda record: "image" in record[self.OUTPUTS])
        self.fetch(record[self.OUTPUTS]["image"], headers)
        seen = time.monotonic() - sent
        if record["status"] != "ready":
            record, at = self._wait(path, headers, self.READY, lambda record: record["status"] == "ready")
        return seen, at - sent, record[self.OUTPUTS]

    def _wait(self, path, headers, ways, is_done):
        """Asks, in turn by the ways that the service may know, until it responds with what is waited for."""
        end = time.monotonic() + TIMEOUT
        for query, preference in itertools.cycle(ways):
            record = json.loads(self.request(200, "GET", path + query, headers | preference)[0])
            if record["status"] not in ("processing", "ready") or time.monotonic() > end:
                raise Failure(f"{path} is not ready: {record}")
            if is_done(record):
                return record, time.monotonic()

    def fetch(self, output, headers):
        """Returns the bytes of an output."""
        body = self.request(200, "GET", output["url"], headers)[0]
        if len(body) != output["bytes"]:
            raise Failure(f"{output['url']} has {len(body)} bytes: {output}")
        return body
