"""The service, and what is uploaded to it."""

import contextlib
import hashlib
import pathlib
import sys
import threading

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Support" / "processes"))

import take5  # noqa: E402
from take5 import SAMPLES, TIMEOUT, free_ports, wait_until  # noqa: E402, F401

KEY = "test-clients-key"
AUTHORIZATION = {"Authorization": f"Bearer {KEY}"}
# The length of an upload.
BYTES = 20 << 20


def clip(name, length=BYTES, camera="front"):
    """Returns a clip that is the same for a name in every run: a sample with a box at its end that players skip (ISO/IEC
    14496-12, section 8.1.2). Anything else would be refused while it is sent."""
    sample = (SAMPLES / f"{camera}.mp4").read_bytes()
    length -= len(sample)
    return sample + length.to_bytes(4, "big") + b"free" + hashlib.shake_128(name.encode()).digest(length - 8)


class Service(take5.Service):
    """The service, with the files of its uploads."""

    def __init__(self, program, folder, port, *options):
        super().__init__(program, folder, *options, port=port, environment={"TAKE5_API_KEY": KEY})

    def close(self):
        self.stop()

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

        wait_until(has_more, f"an upload of more than {size} bytes", pause=0.001)

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
