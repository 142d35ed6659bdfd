"""The service that is fuzzed: its process, its keys, its log, and its end."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "Support" / "processes"))

import take5  # noqa: E402

KEY = "fuzz-api-key"

# What a log says only of an error of ours.
CRASH = re.compile(r"Fatal error|Swift runtime failure|Program crashed|\*\*\* Signal")


class Service(take5.Service):
    """`take5 serve` with a worker, on a store of its own."""

    def __init__(self, program):
        # Directly in /tmp: as root, PostgreSQL runs as another user, which must be able to enter the folder.
        folder = pathlib.Path(tempfile.mkdtemp(prefix="take5-fuzz-api.", dir="/tmp"))
        folder.chmod(0o755)
        super().__init__(
            program, folder, "--slots", "1", "--accounts", "on", "--trusted-proxy", "127.0.0.1", "--key-requests", "10000000",
            "--author-submissions", "10000000", "--log-format", "json",
            environment={"TAKE5_API_KEY": KEY, "SWIFT_BACKTRACE": "color=no"})

    def key(self, name, scopes):
        """Creates a key with some scopes."""
        made = self.run("keys", "create", name, "--scopes", scopes, "--json")
        return json.loads(made.stdout.splitlines()[-1])["key"]

    def logged(self):
        return self.log.read_text(errors="replace")

    def ends(self):
        """Whether the process has ended, or is about to: the report of a crash takes a while, in which it answers nothing."""
        try:
            self.process.wait(timeout=120 if CRASH.search(self.logged()) else 1)
        except subprocess.TimeoutExpired:
            return False
        return True

    def complaints(self):
        """The lines of the log that no request may cause, with the message of each."""
        found = []
        for line in self.logged().splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                entry = {}
            if CRASH.search(line) or entry.get("level") in ("error", "critical"):
                found.append((entry.get("message", "a crash"), line[:2000]))
        return found

    def verify(self):
        """Compares rows with files; returns what is wrong, or nothing. Files of what was refused meanwhile are orphans."""
        self.run("gc")
        result = self.run("verify")
        return "" if result.returncode == 0 else f"exit status {result.returncode}: {result.stdout[-4000:]}"

    def remove(self):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
