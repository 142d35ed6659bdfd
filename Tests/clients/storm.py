"""Breaks uploads in any way, and checks that every acknowledged byte is there:

storm.py PATH-OF-take5 [--faults N] [--seed N] [--clients N]

Clients upload moments in the three protocols, in parts of any size, and submit them before, between and after the bytes. The service
and its PostgreSQL are killed and frozen meanwhile, connections are reset, vanish and stall, and other requests come in between. No
offset that a client has received may be missing later, and in the end each post exists once, with the bytes of its clips."""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import threading
import time

from cuts import captions
from drafts import CURRENT, IOS17, path_of
from link import Link
from service import KEY, TIMEOUT, Service, clip, free_ports
from wire import request

TUS = {"Tus-Resumable": "1.0.0"}
BUSY = (408, 429, 500, 502, 503, 504)
AUTHOR = "storm"
# The length that no clip has.
LARGEST = 4_000_000


class Weather:
    """What the faults and the clients share."""

    def __init__(self, faults):
        self.faults, self.done, self.acknowledged = faults, collections.Counter(), 0
        self.changed = threading.Condition()

    @property
    def is_over(self):
        return self.done.total() >= self.faults

    def acknowledge(self, bytes):
        with self.changed:
            self.acknowledged += bytes
            self.changed.notify_all()

    def wait_for(self, bytes):
        """Waits until clients have received offsets for so many bytes more, or a while: they may all be waiting."""
        with self.changed:
            end = self.acknowledged + bytes
            self.changed.wait_for(lambda: self.acknowledged >= end, timeout=2)


class Upload:
    """One file on its way. `known` is the largest offset that the service has sent, and `is_named` says whether a submission that
    names the file may have come, which uses it up."""

    def __init__(self, weather, url, chance, data):
        self.weather, self.url, self.chance, self.data, self.known = weather, url, chance, data, 0
        self.is_named = False
        while True:
            response = attempt(url, "POST", "/v1/uploads", {**TUS, "Upload-Length": len(data), "Content-Length": 0})
            if response and response.status == 201:
                break
            assert response is None or response.status in BUSY, response
        self.path = path_of(response.headers["location"])
        self.id = self.path.rsplit("/", 1)[1]

    def acknowledge(self, offset):
        assert self.known <= offset <= len(self.data), f"{self.path}: {offset} after {self.known}"
        self.weather.acknowledge(offset - self.known)
        self.known = offset

    def step(self):
        """Asks for the offset, and sends a part from there. Returns whether the upload is whole, or used by its post."""
        response = attempt(self.url, "HEAD", self.path, TUS)
        if response is None or response.status in BUSY:
            return False
        if response.status == 404 and self.is_named:
            return True
        assert response.status == 200, (self.path, self.known, response)
        self.acknowledge(int(response.headers["upload-offset"]))
        if self.known == len(self.data):
            return True
        length = min(self.chance.choice([1, 1000, 70_000, 1 << 20, len(self.data)]), len(self.data) - self.known)
        part = self.data[self.known:self.known + length]
        is_last = self.known + length == len(self.data)
        draft = self.chance.choice([CURRENT, IOS17, None])
        header = {"Upload-Offset": self.known, "Content-Length": length}
        if draft:
            header |= {**draft.extra, **draft.type, draft.field: draft.last if is_last else draft.more}
        else:
            header |= {**TUS, "Content-Type": "application/offset+octet-stream"}
        response = attempt(self.url, "PATCH", self.path, header, part)
        if response is None or response.status in BUSY:
            return False
        if response.status == 404 and self.is_named:
            return True
        assert response.status in (200, 201, 204, 409), (self.path, header, response)
        if response.status != 409:
            self.acknowledge(self.known + length)
        return self.known == len(self.data)


def attempt(url, method, path, headers, body=b""):
    """Sends a request; returns nothing if no response comes."""
    try:
        return request(url, method, path, headers, body)
    except OSError:
        return None


def submit(weather, service, url, seed):
    """Uploads and submits one moment."""
    chance = random.Random(seed)
    clips = [clip(f"{seed} {camera}", chance.randrange(2_000_000, LARGEST), camera) for camera in ("front", "back")]
    uploads = [Upload(weather, url, chance, data) for data in clips]
    body = json.dumps({
        "kind": "take5", "author": AUTHOR, "caption": seed,
        "front": {"upload": uploads[0].id}, "back": {"upload": uploads[1].id}}).encode()
    header = {"Content-Type": "application/json", "Idempotency-Key": seed.replace("/", "-"), "Content-Length": len(body)}
    waiting, post = list(uploads), None
    while waiting or post is None:
        # The submission comes before, between or after the bytes.
        if post is None and (not waiting or chance.random() < 0.2):
            for upload in uploads:
                upload.is_named = True
            response = attempt(url, "POST", "/v1/posts", header, body)
            if response and response.status == 202:
                post = json.loads(response.body)["id"]
            else:
                assert response is None or response.status in (*BUSY, 409), response
        elif waiting and (upload := chance.choice(waiting)).step():
            waiting.remove(upload)
    for data in clips:
        hash = hashlib.sha256(data).hexdigest()
        stored = service.data / "blobs" / hash[:2] / hash
        end = time.monotonic() + TIMEOUT
        while not stored.exists():
            assert time.monotonic() < end, f"{seed}: the post {post} has other bytes, or none"
            time.sleep(0.01)
        assert hashlib.sha256(stored.read_bytes()).hexdigest() == hash, stored
    return seed


def postgres(service):
    """The process that owns the embedded PostgreSQL of the service."""
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            name, rest = path.read_text().rsplit(")", 1)
            if name.endswith("(postgres") and rest.split()[1] == str(service.process.pid):
                return int(path.parent.name)
        except (FileNotFoundError, ProcessLookupError):
            continue
    return None


def faults(service, link, uploads):
    """The ways to break something."""

    def freeze(chance):
        service.process.send_signal(signal.SIGSTOP)
        time.sleep(chance.uniform(0.05, 1))
        service.process.send_signal(signal.SIGCONT)

    def kill_database(_):
        if number := postgres(service):
            os.kill(number, signal.SIGKILL)

    def interfere(chance):
        """Another request to an upload, whose client may have lost its connection. No upload is as long as its offset."""
        if files := service.uploads():
            path = f"/v1/uploads/{chance.choice(files).name}"
            attempt(service.url, "PATCH", path, {
                **TUS, "Content-Type": "application/offset+octet-stream", "Upload-Offset": LARGEST, "Content-Length": 1}, b"x")

    return {
        "kill": lambda _: service.restart(), "kill PostgreSQL": kill_database, "freeze": freeze,
        "reset": lambda _: link.reset(), "vanish": lambda _: link.vanish(), "interfere": interfere,
    }


def run(service, link, options):
    weather, url = Weather(options.faults), f"http://127.0.0.1:{link.port}"
    submitted, failures = [], []

    def client(number):
        count = 0
        try:
            while not weather.is_over:
                submitted.append(submit(weather, service, url, f"{options.seed}/{number}/{count}"))
                count += 1
        except BaseException as failure:
            failures.append(failure)
            weather.faults = 0

    threads = [threading.Thread(target=client, args=(number,)) for number in range(options.clients)]
    start = time.monotonic()
    for thread in threads:
        thread.start()
    chance = random.Random(options.seed)
    ways = faults(service, link, weather)
    while not weather.is_over:
        weather.wait_for(chance.randrange(1, 3_000_000))
        name = chance.choice(sorted(ways))
        ways[name](chance)
        weather.done[name] += 1
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    assert captions(service, AUTHOR) == collections.Counter(submitted)
    print(
        f"{weather.done.total()} faults ({', '.join(f'{count} {name}' for name, count in sorted(weather.done.items()))}), "
        f"{len(submitted)} moments, {weather.acknowledged} acknowledged bytes: all are there, each post exists once; "
        f"{time.monotonic() - start:.0f} s")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("take5", type=pathlib.Path)
    parser.add_argument("--faults", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clients", type=int, default=6)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="take5-storm-") as name:
        folder = pathlib.Path(name)
        # PostgreSQL runs as another user, which must be able to enter the folder.
        folder.chmod(0o755)
        service = Service(options.take5.resolve(), folder, free_ports(1)[0], "--slots", "0")
        link = Link(service.port)
        try:
            run(service, link, options)
            # A service that is killed between the files of a submission and their rows leaves files, which maintenance removes later.
            for name in ["gc", "verify"]:
                command = [options.take5.resolve(), name, "--data", service.data]
                subprocess.run(command, env={**os.environ, "TAKE5_API_KEY": KEY}, check=True)
        finally:
            link.close()
            service.close()


main()
