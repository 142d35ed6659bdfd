"""The services that are measured, and how each is started."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys

from client import Contestant, Failure
from processes import Service, free_ports

POSTGRES = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), default=None)
HERE = pathlib.Path(__file__).parent
SLOTS = 2


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
        self.until(self.listens)

    def check(self):
        if self._service.process.poll() is not None:
            raise Failure("the service has ended")

    def log(self):
        return (self._folder / "service.log").read_text()

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

    def __init__(self, name, title, folder, definition, variant):
        self.name, self.title, self._folder = name, title, folder
        self._processes, self._database = [], folder / "database"
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
        try:
            subprocess.run(self._command("create"), check=True, stdout=self._log, stderr=self._log)
        finally:
            self.stop()

    def _command(self, mode, *arguments):
        url = f"postgresql://postgres@127.0.0.1:{self._port}/postgres"
        return [sys.executable, HERE / "service.py", mode, "--database", url, *self._arguments, *arguments]

    def _run(self, *command, **options):
        process = subprocess.Popen(command, stdout=self._log, stderr=self._log, **options)
        self._processes.append(process)
        return process

    def _start_database(self):
        self._port = free_ports(1)[0]
        self._run(
            POSTGRES / "postgres", "-D", self._database, "-p", str(self._port), "-c", "listen_addresses=127.0.0.1",
            "-c", "unix_socket_directories=", cwd="/", **self._user)
        ready = [POSTGRES / "pg_isready", "--quiet", "--host", "127.0.0.1", "--port", str(self._port)]
        self.until(lambda: subprocess.run(ready).returncode == 0)

    def start(self):
        self._start_database()
        self.address = ("127.0.0.1", free_ports(1)[0])
        self._run(*self._command("serve", "--port", str(self.address[1])))
        for _ in range(SLOTS):
            self._run(*self._command("work"))
        self.until(self.listens)

    def check(self):
        for process in self._processes:
            if process.poll() is not None:
                raise Failure(f"{process.args[0]} has ended with {process.returncode}")

    def log(self):
        return (self._folder / "log").read_text()

    def roots(self):
        return [process.pid for process in self._processes]

    def stop(self):
        """Ends the slots and the API, and then PostgreSQL, which on SIGINT waits for no client."""
        while self._processes:
            process = self._processes.pop()
            process.send_signal(signal.SIGTERM if self._processes else signal.SIGINT)
            process.wait()
