"""The service, and what is uploaded to it."""

import contextlib
import hashlib
import os
import pathlib
import signal
import socket
import subprocess
import threading
import time

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "samples"
KEY = "test-clients-key"
AUTHORIZATION = {"Authorization": f"Bearer {KEY}"}
# The length of an upload.
BYTES = 20 << 20
# A program that does not do what a test waits for within this time, in seconds, does not do it.
TIMEOUT = 60


def free_ports(count):
    """Returns ports on which no program listens."""
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(socket.socket()) for _ in range(count)]
        for listener in listeners:
            listener.bind(("127.0.0.1", 0))
        return [listener.getsockname()[1] for listener in listeners]


def clip(name, length=BYTES, camera="front"):
    """Returns a clip that is the same for a name in every run: a sample with a box at its end that players skip (ISO/IEC
    14496-12, section 8.1.2). Anything else would be refused while it is sent."""
    sample = (SAMPLES / f"{camera}.mp4").read_bytes()
    length -= len(sample)
    return sample + length.to_bytes(4, "big") + b"free" + hashlib.shake_128(name.encode()).digest(length - 8)


def wait_until(condition, what):
    """Returns the first true value of a condition; `what` says what is waited for."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.001)
    raise AssertionError(f"{what}: not within {TIMEOUT} s")


class Service:
    """The service, which can be killed and started again on the same port."""

    def __init__(self, program, folder, port, *options):
        self.port, self.url, self.data = port, f"http://127.0.0.1:{port}", folder / "data"
        self.arguments = [program, "serve", "--listen", f"127.0.0.1:{port}", "--data", self.data, *options]
        self.log = (folder / "service.log").open("ab")
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            self.arguments, env={**os.environ, "TAKE5_API_KEY": KEY}, stdout=subprocess.PIPE, stderr=self.log)
        if not self.process.stdout.readline():
            raise SystemExit(f"the service did not start: {self.log.name}")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def uploads(self):
        """The files of all uploads."""
        return [path for path in (self.data / "blobs" / "uploads").glob("*") if not path.suffix]

    def file(self, location):
        """The file of the upload with a URL."""
        return self.data / "blobs" / "uploads" / location.rsplit("/", 1)[1]

    def wait_for(self, size, location=None):
        """Waits until the upload with a URL, or any one, has more bytes than `size`."""

        def has_more():
            files = [self.file(location)] if location else self.uploads()
            return any(path.exists() and path.stat().st_size > size for path in files)

        wait_until(has_more, f"an upload of more than {size} bytes")

    def restart(self):
        self.kill()
        self.start()

    @contextlib.contextmanager
    def restarted_after(self, size):
        """Kills the service once an upload that is not whole has more bytes than `size`, and starts it again."""
        lengths = []

        def watch():
            self.wait_for(size)
            self.kill()
            lengths.extend(path.stat().st_size for path in self.uploads())
            self.start()

        thread = threading.Thread(target=watch)
        thread.start()
        yield
        thread.join()
        assert any(size < length < BYTES for length in lengths), f"the service was killed too late: {lengths}"
