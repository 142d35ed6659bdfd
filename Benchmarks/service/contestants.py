"""The services that are measured: how each is started, what a client sends it and sees of it, and what its processes use."""

import contextlib
import http.client
import itertools
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

from content import Clip, Moment
from processes import Service, cpu, descendants, free_port

POSTGRES = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), default=None)
HERE = pathlib.Path(__file__).parent
SLOTS = 2
# After so many seconds a moment counts as lost.
TIMEOUT = 900


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
    """A service with two slots. Its data stay between two starts."""

    def processes(self):
        return [pid for root in self.roots() for pid in descendants(root)]

    def cpu(self):
        """The CPU seconds of all processes, with PostgreSQL and what they have started."""
        return cpu(self.processes())

    def request(self, status, method, path, headers, content=None):
        """Sends a request whose response must have a status; returns the body, and the time of the last byte that was sent."""
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
            raise Failure(f"{self.title}: {method} {path}: {response.status} {body[:500].decode(errors='replace')}")
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
                raise Failure(f"{self.title}: {path} is not ready: {record}")
            if is_done(record):
                return record, time.monotonic()

    def fetch(self, output, headers):
        """Returns the bytes of an output."""
        body = self.request(200, "GET", output["url"], headers)[0]
        if len(body) != output["bytes"]:
            raise Failure(f"{self.title}: {output['url']} has {len(body)} bytes: {output}")
        return body


class Take5(Contestant):
    """`take5 serve` with its embedded PostgreSQL."""

    name, title = "take5", "take5"
    PATH, OUTPUTS = "/v1/posts", "assets"
    # A service without a first look does not wait for one.
    FIRST = [("", {"Prefer": "wait=50; for=look"}), ("", {"Prefer": "wait=50"})]
    READY = FIRST[1:]

    def __init__(self, program, folder):
        self._program, self._folder, self._service = program, folder, None
        folder.mkdir(mode=0o755)

    def start(self):
        self._service = Service(self._program, self._folder, slots=SLOTS)
        self.address = self._service.address

    def roots(self):
        return [self._service.process.pid]

    def stop(self):
        if self._service:
            self._service.stop()
        self._service = None


class Peer(Contestant):
    """The service of service.py, with a PostgreSQL of its own that has default settings."""

    PATH, OUTPUTS = "/moments", "outputs"
    FIRST = [("?wait=50&for=output", {})]
    READY = [("?wait=50", {})]

    def __init__(self, variant, title, folder, definition, threads):
        self.name, self.title, self._folder = variant, title, folder
        self._processes, self._database = [], folder / "database"
        self._threads = ["--threads", str(threads)] if threads else []
        for path in (folder, self._database):
            path.mkdir(mode=0o755)
        if os.geteuid() == 0:
            # PostgreSQL does not run as root.
            shutil.chown(self._database, "postgres", "postgres")
        self._user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
        self._log = (folder / "log").open("ab")
        subprocess.run(
            [POSTGRES / "initdb", "--pgdata", self._database, "--auth", "trust", "--username", "postgres", "--encoding", "UTF8"],
            check=True, stdout=self._log, stderr=self._log, cwd="/", **self._user)
        self._arguments = ["--data", folder / "data", "--definition", definition, "--variant", variant]
        self._start_database()
        subprocess.run(self._command("create"), check=True, stdout=self._log, stderr=self._log)
        self.stop()

    def _command(self, mode, *arguments):
        url = f"postgresql://postgres@127.0.0.1:{self._port}/postgres"
        return [sys.executable, HERE / "service.py", mode, "--database", url, *self._arguments, *self._threads, *arguments]

    def _run(self, *command, **options):
        process = subprocess.Popen(command, stdout=self._log, stderr=self._log, **options)
        self._processes.append(process)
        return process

    def _start_database(self):
        self._port = free_port()
        self._run(
            POSTGRES / "postgres", "-D", self._database, "-p", str(self._port), "-c", "listen_addresses=127.0.0.1",
            "-c", "unix_socket_directories=", cwd="/", **self._user)
        ready = [POSTGRES / "pg_isready", "--quiet", "--host", "127.0.0.1", "--port", str(self._port)]
        self._until(lambda: subprocess.run(ready).returncode == 0)

    def start(self):
        self._start_database()
        self.address = ("127.0.0.1", free_port())
        self._run(*self._command("serve", "--port", str(self.address[1])))
        for _ in range(SLOTS):
            self._run(*self._command("work"))
        self._until(self._listens)

    def _listens(self):
        with contextlib.suppress(OSError), socket.create_connection(self.address):
            return True
        return False

    def _until(self, condition):
        """Waits for a condition, while all processes run."""
        while not condition():
            if any(process.poll() is not None for process in self._processes):
                raise Failure(f"{self.title} did not start: {(self._folder / 'log').read_text()[-2000:]}")
            time.sleep(0.05)

    def roots(self):
        return [process.pid for process in self._processes]

    def stop(self):
        """Ends the slots and the API, and then PostgreSQL, which on SIGINT waits for no client."""
        while self._processes:
            process = self._processes.pop()
            process.send_signal(signal.SIGTERM if self._processes else signal.SIGINT)
            process.wait()
