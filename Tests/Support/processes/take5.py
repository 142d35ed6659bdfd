"""Programs of take5 as processes, for all that tests and measures them from outside: started, killed, stopped and started again."""

import contextlib
import os
import pathlib
import socket
import subprocess
import time

SAMPLES = pathlib.Path(__file__).resolve().parents[3] / "samples"
# What a test waits for and does not see within this time, in seconds, does not happen.
TIMEOUT = 180


def free_ports(count):
    """Returns ports on which no program listens."""
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(socket.socket()) for _ in range(count)]
        for listener in listeners:
            listener.bind(("127.0.0.1", 0))
        return [listener.getsockname()[1] for listener in listeners]


def wait_until(condition, what, timeout=TIMEOUT, pause=0.05):
    """Returns the first true value of a condition; `what` says what is waited for."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(pause)
    raise AssertionError(f"{what}: not within {timeout} s")


class Program:
    """A process with variables in addition to those of this one, whose output is appended to a file."""

    def __init__(self, arguments, log, environment=None, prints=False):
        """One that prints its URL, which is not appended, has started once it has printed it."""
        self.arguments, self.log, self.prints = list(arguments), pathlib.Path(log), prints
        self.environment = {**os.environ, **(environment or {})}
        self.start()

    def start(self, *options):
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*self.arguments, *options], env=self.environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if self.prints else log, stderr=log, text=True, start_new_session=True)
        if self.prints:
            self.url = self.process.stdout.readline().strip()
            if not self.url:
                raise SystemExit(f"{self.arguments[1]} did not start:\n{self.log.read_text(errors='replace')[-6000:]}")

    def has_ended(self):
        return self.process.poll() is not None

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Ends it as systemd does; returns its exit status. One that does not end within two minutes is killed."""
        self.process.terminate()
        try:
            return self.process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            self.kill()
            return "a kill after two minutes"

    def restart(self):
        self.kill()
        self.start()


class Service(Program):
    """`take5 serve` on loopback, with its data and its log in a folder, and on the same port each time that it is started."""

    def __init__(self, program, folder, *options, port=None, data=None, environment=None):
        self.program, self.folder = pathlib.Path(program).resolve(), pathlib.Path(folder)
        self.data, self.port = data or self.folder / "data", port or free_ports(1)[0]
        super().__init__(
            [self.program, "serve", "--listen", f"127.0.0.1:{self.port}", "--data", self.data, *options],
            self.folder / "service.log", environment, prints=True)

    @property
    def address(self):
        return ("127.0.0.1", self.port)

    def run(self, *arguments):
        """Runs a command on the data of the service to its end."""
        return subprocess.run(
            [self.program, *arguments, "--data", self.data], env=self.environment, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
