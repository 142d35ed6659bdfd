"""What an upload costs: the CPU seconds of the service, against nginx and openssl with the same bytes."""

import contextlib
import os
import shutil
import socket
import subprocess
import time

from content import Clip, Moment
from processes import Nginx, Service
from report import Figure

# The best of 16 KiB to 1 MiB for nginx, which reads and writes as much at a time.
NGINX_BUFFER = "128k"
LARGE = 20_000_000
SMALL = 2_500_000


class Client:
    """A connection that stays open, on which one request follows the other."""

    def __init__(self, address):
        self._socket = socket.create_connection(address)
        self._file = self._socket.makefile("rb")

    def request(self, method, path, headers, body=b""):
        """Sends a request and returns the status and the headers of the final response."""
        head = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}"]
        head += [f"{name}: {value}" for name, value in headers.items()]
        self._socket.sendall("\r\n".join(head + ["", ""]).encode())
        self._socket.sendall(body)
        status, fields = self._head()
        while status < 200:
            status, fields = self._head()
        self._file.read(int(fields.get("content-length", 0)))
        return status, fields

    def _head(self):
        status = int(self._file.readline().split()[1])
        fields = {}
        while line := self._file.readline().strip():
            name, _, value = line.decode().partition(":")
            fields[name.lower()] = value.strip()
        return status, fields

    def expect(self, status, *request):
        """Sends a request whose response must have a status; returns the headers of the response."""
        got, fields = self.request(*request)
        assert got == status, f"{request[0]} {request[1]}: {got}"
        return fields


def in_parts(client, bytes, part=None):
    """Creates an upload and appends the bytes, in parts of a length if there is one."""
    length = len(bytes)
    path = "/" + client.expect(
        201, "POST", "/v1/uploads", {"Upload-Complete": "?0", "Upload-Length": length})["location"].split("/", 3)[3]
    for offset in range(0, length, part or length):
        body = memoryview(bytes)[offset:offset + (part or length)]
        is_last = offset + len(body) == length
        # The response to the last part is that of a creation with all bytes.
        client.expect(201 if is_last else 204, "PATCH", path, {
            "Upload-Offset": offset, "Upload-Complete": "?1" if is_last else "?0",
            "Content-Type": "application/partial-upload"}, body)
    return path


class Ours:
    """Uploads to the service, by a way of sending."""

    def __init__(self, service, send):
        self._service, self._send = service, send

    def run(self, files):
        """Returns the CPU seconds of one upload, and those of PostgreSQL meanwhile."""
        # A connection of its own: an earlier one is closed while the others run.
        client = Client(self._service.address)
        before = self._service.cpu()
        for content in files:
            self._send(client, content.bytes())
        after = self._service.cpu()
        return [(end - start) / len(files) for start, end in zip(before, after)]

    def clear(self):
        shutil.rmtree(self._service.data / "blobs" / "uploads", ignore_errors=True)
        (self._service.data / "blobs" / "uploads").mkdir(mode=0o700)


class Theirs:
    """nginx receives the bytes, and openssl hashes them."""

    def __init__(self, nginx, *, together=False, synchronized=False):
        self._nginx, self._together, self._synchronized = nginx, together, synchronized

    def run(self, files):
        """Returns the CPU seconds of one upload: of nginx, and of openssl."""
        client, paths = Client(self._nginx.address), []
        start, received = os.times(), self._nginx.cpu()
        for index, content in enumerate(files):
            client.expect(201, "PUT", f"/{index}", {}, content.bytes())
            paths.append(self._nginx.files / str(index))
            if self._synchronized:
                subprocess.run(["sync", paths[-1]], check=True)
            if not self._together:
                self._hash(paths[-1:])
        if self._together:
            self._hash(paths)
        end, sent = os.times(), self._nginx.cpu()
        children = end.children_user - start.children_user + end.children_system - start.children_system
        return [(sent - received) / len(files), children / len(files)]

    def _hash(self, paths):
        subprocess.run(["openssl", "dgst", "-sha256", *paths], check=True, stdout=subprocess.DEVNULL)

    def clear(self):
        for path in self._nginx.files.iterdir():
            path.unlink()


class Files:
    """As many new files as a run uploads, made one by one."""

    def __init__(self, count, new):
        self._count, self._new = count, new

    def __len__(self):
        return self._count

    def __iter__(self):
        return (self._new() for _ in range(self._count))


def compare(name, meaning, runs, files, ours, theirs, **goal):
    """Measures both in turn, after a run of each that does not count. The ratio is that of each pair."""
    pairs = []
    for run in range(runs + 1):
        pair = []
        # Who is first changes: the disk still writes what the one before has left.
        for contestant in ([ours, theirs] if run % 2 else [theirs, ours]):
            pair.append(contestant.run(files))
            contestant.clear()
            os.sync()
            time.sleep(0.5)
        if run:
            pairs.append(pair if run % 2 else pair[::-1])
    milliseconds = [[[1000 * value for value in side] for side in pair] for pair in pairs]
    return Figure(
        name, meaning, [mine[0] / sum(others) for mine, others in pairs], **goal,
        details=[
            ("take5, ms", [mine[0] for mine, _ in milliseconds], 1), ("its PostgreSQL, ms", [mine[1] for mine, _ in milliseconds], 1),
            ("nginx, ms", [others[0] for _, others in milliseconds], 1), ("openssl, ms", [others[1] for _, others in milliseconds], 1)])


def measure(report, program, nginx_program, folder, runs):
    """Measures uploads of 20 MB and of 2.5 MB."""
    large, small = Clip("back.mp4", LARGE), Clip("back.mp4", SMALL)
    with contextlib.ExitStack() as stack:
        service = Service(program, folder)
        stack.callback(service.stop)
        nginx = Nginx(nginx_program, folder / "nginx", NGINX_BUFFER)
        stack.callback(nginx.stop)
        whole, forms = Ours(service, in_parts), Moment()
        parts = Ours(service, lambda client, bytes: in_parts(client, bytes, 1 << 20))
        form = Ours(service, lambda client, body: client.expect(202, "POST", "/v1/posts", forms.headers, body))
        theirs, together, synchronized = Theirs(nginx), Theirs(nginx, together=True), Theirs(nginx, synchronized=True)
        larges, smalls = Files(40, large.new), Files(200, small.new)
        for name, meaning, files, mine, other, goal in [
            ("cpu", "an upload of 20 MB: creation and one PATCH", larges, whole, theirs, {"at_most": 1.25}),
            ("cpu.together", "the same, with one process of openssl for all files of a run", larges, whole, together, {}),
            ("cpu.synchronized", "the same, with the peer's file on the disk, too, by `sync FILE`", larges, whole, synchronized, {}),
            ("cpu.parts", "the same in parts of 1 MiB, each on the disk before its response", larges, parts, theirs, {}),
            ("cpu.small", "an upload of 2.5 MB", smalls, whole, theirs, {}),
            ("cpu.small.together", "the same, with one process of openssl for all", smalls, whole, together, {}),
            ("cpu.form", "a moment as a form, with its post and its job; the peer keeps the bytes of the form",
             Files(100, lambda: forms.new("ada")), form, theirs, {}),
        ]:
            report.add(compare(f"http.upload.{name}", meaning, runs, files, mine, other, **goal))
