"""The processes that are measured: the service, its PostgreSQL, nginx; and the CPU time and memory that they use."""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "Tests" / "Support" / "processes"))

import take5  # noqa: E402
from take5 import free_ports  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")


def fields(pid):
    """Returns the fields of proc(5), `stat`, from the third one on: the name before them may contain blanks."""
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def descendants(pid):
    """Returns a process and all its descendants."""
    children = {}
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            children.setdefault(int(fields(path.name)[1]), []).append(int(path.name))
    found = [pid]
    for process in found:
        found += children.get(process, [])
    return found


def cpu(pids):
    """Returns the user and system time of processes in seconds, with that of children that have ended."""
    total = 0
    for pid in pids:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            total += sum(map(int, fields(pid)[11:15]))
    return total / TICKS


class Service(take5.Service):
    """`take5 serve` without a worker, unless `slots` says otherwise. Its embedded PostgreSQL is counted separately."""

    def __init__(self, program, folder, *options, slots=0, port=None):
        # Rates are limited for each address, and the benchmark has one.
        limits = ["--key-requests", "10000000", "--author-submissions", "10000000"]
        super().__init__(program, folder, "--slots", str(slots), *limits, *options, port=port)

    def database_processes(self):
        """The embedded PostgreSQL: the only child that has the name of the program."""
        for pid in descendants(self.process.pid)[1:]:
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                if pathlib.Path(f"/proc/{pid}/comm").read_text() == "postgres\n":
                    return descendants(pid)
        raise SystemExit("the service has no embedded PostgreSQL")

    def cpu(self):
        """The CPU seconds of the service, and those of its PostgreSQL."""
        database = self.database_processes()
        return cpu(set(descendants(self.process.pid)) - set(database)), cpu(database)

    def database(self, *command, **options):
        """Runs a PostgreSQL program that connects to the database of the service; returns what it prints."""
        return subprocess.run(
            [self.program, "database", "--data", self.data, "--", *map(str, command)], check=True, stdout=subprocess.PIPE,
            text=True, **options).stdout

    def sql(self, *statements):
        self.database("psql", "--quiet", "--no-psqlrc", *(f"--command={statement}" for statement in statements))

    @contextlib.contextmanager
    def frozen_database(self):
        """Stops all processes of PostgreSQL: no statement ends, and none begins."""
        pids = self.database_processes()
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)

    def forget_peak(self):
        """Starts the measurement of the largest memory (proc(5), `clear_refs`)."""
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def peak(self):
        """The largest memory that was resident, in MB, with the libraries that it shares."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6


class Nginx:
    """nginx with its module for WebDAV. The body goes to a file next to its place, which is then renamed."""

    CONFIGURATION = """
        daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.log; worker_processes 1; {user}
        events {{ worker_connections 64; }}
        http {{
          access_log off; keepalive_requests 1000000;
          client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
          fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
          server {{
            listen 127.0.0.1:{port};
            client_max_body_size 0; client_body_buffer_size {buffer};
            location / {{ root {folder}/files; dav_methods PUT DELETE; }}
          }}
        }}"""

    def __init__(self, program, folder, buffer):
        [self.port], self.files = free_ports(1), folder / "files"
        self.files.mkdir(parents=True)
        configuration = folder / "nginx.conf"
        # As the user of the benchmark: another one could not write the files.
        user = "user root;" if os.geteuid() == 0 else ""
        configuration.write_text(self.CONFIGURATION.format(folder=folder, port=self.port, buffer=buffer, user=user))
        self.process = subprocess.Popen([program, "-c", configuration, "-p", folder], stderr=subprocess.DEVNULL)
        while True:
            try:
                socket.create_connection(self.address).close()
                return
            except ConnectionRefusedError:
                time.sleep(0.01)

    @property
    def address(self):
        return ("127.0.0.1", self.port)

    def cpu(self):
        return cpu(descendants(self.process.pid))

    def stop(self):
        self.process.terminate()
        self.process.wait()
