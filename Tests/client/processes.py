"""Processes that use Take5Client, each in the place of an app that is started."""

import json
import os
import signal
import subprocess
import threading

# In seconds; the longest test composes two moments of 60 MiB.
TIMEOUT = 180
# The bundle of authorities that libcurl reads in Debian. FoundationNetworking has no setting for another one.
AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"


class Phone:
    """What one installation of an app stores, and the processes of the app."""

    def __init__(self, stage, folder, link, secure):
        self.stage, self.folder, self.secure = stage, folder, secure
        folder.mkdir()
        self.name = self.user = None
        self.through(link)

    def through(self, link):
        self.url = f"https://api.localhost:{link.port}" if self.secure else f"http://127.0.0.1:{link.port}"

    @property
    def session(self):
        return json.loads((self.folder / "session.json").read_text())

    def queue(self):
        """The names in the folder of the queue."""
        folder = self.folder / "queue"
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []

    def start(self, command, *arguments, mount=None):
        line = [self.stage.program, command, self.url, self.folder, *arguments]
        mounts = [f"mount --bind {self.stage.bundle} {AUTHORITIES}"] if self.secure else []
        mounts += [mount] if mount else []
        if mounts:
            # The namespaces are of one process: the number of the process is that of the phone.
            script = " && ".join([*mounts, 'exec "$0" "$@"'])
            line = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, *line]
        return Process(line)

    def run(self, command, *arguments, **options):
        """Runs a command to its end; returns what it printed."""
        return self.start(command, *arguments, **options).end()


class Process:
    """A process of a phone, whose lines a test waits for."""

    def __init__(self, line):
        self.process = subprocess.Popen([str(part) for part in line], stdout=subprocess.PIPE, text=True, env=os.environ)
        self.lines = []
        # A phone that does not do what a test waits for is ended, with its output.
        self.watchdog = threading.Timer(TIMEOUT, self.process.kill)
        self.watchdog.daemon = True
        self.watchdog.start()

    def wait_for(self, start):
        """Reads until a line that begins so; returns the rest of that line."""
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            if line.startswith(start):
                return line[len(start):].strip()
        raise AssertionError(f"no line {start!r} in {self.lines}")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def ended(self):
        """Reads to the end of the process, whatever its status."""
        self.lines += self.process.stdout.read().splitlines()
        self.status = self.process.wait()
        self.watchdog.cancel()
        return self

    def end(self):
        assert self.ended().status == 0, f"the phone ended with {self.status}: {self.lines}"
        return self

    def line(self, start):
        """The rest of the last line that begins so."""
        found = [line[len(start):] for line in self.lines if line.startswith(start)]
        assert found, f"no line {start!r} in {self.lines}"
        return found[-1]

    @property
    def memory(self):
        """The most memory that the process had, in MiB."""
        return int(self.line("memory ")) / 1024
