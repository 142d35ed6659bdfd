"""The service that is fuzzed: its process, its keys, its log, and its end."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

KEY = "fuzz-api-key"

# What a log says only of an error of ours.
CRASH = re.compile(r"Fatal error|Swift runtime failure|Program crashed|\*\*\* Signal")


class Service:
    """`take5 serve` with a worker, on a store of its own."""

    def __init__(self, take5):
        # Directly in /tmp: as root, PostgreSQL runs as another user, which must be able to enter the folder.
        self.take5, self.folder = os.path.abspath(take5), pathlib.Path(tempfile.mkdtemp(prefix="take5-fuzz-api.", dir="/tmp"))
        self.folder.chmod(0o755)
        self.data, self.log_path = self.folder / "data", self.folder / "service.log"
        self.run("init")
        self.environment = {**os.environ, "TAKE5_API_KEY": KEY, "SWIFT_BACKTRACE": "color=no"}
        self.process = subprocess.Popen(
            [self.take5, "serve", "--listen", "127.0.0.1:0", "--slots", "1", "--data", self.data, "--accounts", "on",
             "--trusted-proxy", "127.0.0.1", "--key-requests", "10000000", "--author-submissions", "10000000",
             "--log-format", "json"],
            stdout=subprocess.PIPE, stderr=self.log_path.open("wb"), env=self.environment, text=True)
        url = self.process.stdout.readline().strip()
        if not url:
            raise SystemExit(f"the service did not start:\n{self.log()}")
        self.port = int(url.rsplit(":", 1)[1])

    def run(self, *arguments):
        return subprocess.run(
            [self.take5, *arguments, "--data", self.data], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def key(self, name, scopes):
        """Creates a key with some scopes."""
        made = self.run("keys", "create", name, "--scopes", scopes, "--json")
        return json.loads(made.stdout.splitlines()[-1])["key"]

    def log(self):
        return self.log_path.read_text(errors="replace")

    def has_ended(self):
        return self.process.poll() is not None

    def ends(self):
        """Whether the process has ended, or is about to: the report of a crash takes a while, in which it answers nothing."""
        try:
            self.process.wait(timeout=120 if CRASH.search(self.log()) else 1)
        except subprocess.TimeoutExpired:
            return False
        return True

    def complaints(self):
        """The lines of the log that no request may cause, with the message of each."""
        found = []
        for line in self.log().splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                entry = {}
            if CRASH.search(line) or entry.get("level") in ("error", "critical"):
                found.append((entry.get("message", "a crash"), line[:2000]))
        return found

    def drain(self):
        """Ends the service as systemd does; returns its exit status."""
        if not self.has_ended():
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "a kill after two minutes"

    def verify(self):
        """Compares rows with files; returns what is wrong, or nothing. Files of what was refused meanwhile are orphans."""
        self.run("gc")
        result = self.run("verify")
        return "" if result.returncode == 0 else f"exit status {result.returncode}: {result.stdout[-4000:]}"

    def remove(self):
        if not self.has_ended():
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
