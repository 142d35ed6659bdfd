"""Sends media to a service and a worker that share a bucket and no folder, while the store breaks requests and lets them hang, the caches of
the two lie and are removed, the clocks of all and of PostgreSQL step, and the two are killed:

faults.py PATH-OF-take5 [--faults N] [--seed N]

Tests/s3/store.sh starts the store and runs it. In the end each acknowledged post is ready by itself, and verify finds nothing."""

import argparse
import collections
import hashlib
import itertools
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Support" / "processes"))

from clocks import STEPS, Clock  # noqa: E402
from faulty_store import FaultyStore  # noqa: E402
from take5 import SAMPLES, Program, Service  # noqa: E402

TIMEOUT = 300
# One of so many faults is a kill, and one something that happens to a cache or to a clock.
KILLS = 6
OTHERS = 6
CLIENTS = 3


def png(name, side):
    """Returns a photo of noise, which is the same for a name."""
    noise = hashlib.shake_128(name.encode()).digest(side * side * 3)
    rows = b"".join(b"\0" + noise[start:start + side * 3] for start in range(0, len(noise), side * 3))

    def chunk(kind, content):
        return len(content).to_bytes(4, "big") + kind + content + zlib.crc32(kind + content).to_bytes(4, "big")

    header = side.to_bytes(4, "big") * 2 + bytes((8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b"")


def clip(name, camera):
    """Returns a sample with a box at its end that players skip, by which it differs from others."""
    content = hashlib.shake_128(name.encode()).digest(1000)
    return (SAMPLES / f"{camera}.mp4").read_bytes() + (len(content) + 8).to_bytes(4, "big") + b"free" + content


def parts_of(number):
    """The files of a post: most have a photo, some a moment, and some a photo that is written to the bucket in parts."""
    if number % 8 == 1:
        return [(camera, clip(f"{number}", camera)) for camera in ("front", "back")], "take5"
    return [("photo", png(f"{number}", 2500 if number % 8 == 5 else 300))], "photo"


def break_cache(cache, chance):
    """Removes a cache, or gives its copies other bytes or another length; returns which."""
    if chance.random() < 0.3:
        shutil.rmtree(cache, ignore_errors=True)
        return "cache gone"
    for copy in cache.glob("??/*"):
        try:
            with copy.open("r+b") as file:
                if chance.random() < 0.5:
                    file.truncate(100)
                else:
                    file.write(b"rotten " * 100)
        except FileNotFoundError:
            pass
    return "cache lies"


def send(request):
    """Returns a response as JSON; None if it is worth another attempt."""
    try:
        with urllib.request.urlopen(request, timeout=120) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        problem = error.read()
        assert error.code in (408, 409, 429, 503), f"{error.code} {problem}"
    except (OSError, ValueError):
        pass
    return None


def submit(url, number):
    """Submits a post until it is acknowledged, and returns its id."""
    files, kind = parts_of(number)
    boundary = "boundary-of-take5"
    body = b""
    for name, content in [("post", json.dumps({"kind": kind, "author": f"user{number}"}).encode()), *files]:
        file_name = b'; filename="file"' if name != "post" else b""
        body += b'--%s\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n' % (
            boundary.encode(), name.encode(), file_name, content)
    body += f"--{boundary}--\r\n".encode()
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}", "Idempotency-Key": f"post-{number}"}
    while True:
        post = send(urllib.request.Request(f"{url}/v1/posts", body, headers))
        if post:
            return post["id"]
        time.sleep(0.2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("take5", type=pathlib.Path)
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    bucket = urllib.parse.urlsplit(os.environ["TAKE5_TEST_S3"])
    endpoint = urllib.parse.urlsplit(dict(urllib.parse.parse_qsl(bucket.query))["endpoint"])
    store = FaultyStore((endpoint.hostname, endpoint.port), options.seed)
    blobs = f"s3://{bucket.netloc}/faults-{options.seed}?endpoint=http://127.0.0.1:{store.port}"
    with tempfile.TemporaryDirectory(prefix="take5-faults-", ignore_cleanup_errors=True) as folder:
        figures = run(options, store, pathlib.Path(folder), blobs)
    print(f"{figures}; each is there and ready, and the store is consistent")


def run(options, store, folder, blobs):
    take5, chance = options.take5.resolve(), random.Random(options.seed)
    environment = {
        "PATH": os.environ["PATH"], "AWS_ACCESS_KEY_ID": os.environ["AWS_ACCESS_KEY_ID"],
        "AWS_SECRET_ACCESS_KEY": os.environ["AWS_SECRET_ACCESS_KEY"], "TAKE5_BLOBS": blobs}
    clocks = {name: Clock(folder / f"clock-{name}", take5) for name in ("service", "worker", "PostgreSQL")}
    folder.chmod(0o755)
    database_clock = clocks["PostgreSQL"].postgres(folder / "postgres-bin")
    service = Service(
        take5, folder, "--slots", "0", data=folder / "api",
        environment={**environment, **database_clock, **clocks["service"].environment})
    url = service.url
    database = (folder / "api" / "postgres.url").read_text().splitlines()[0]
    worker = Program(
        [take5, "worker", "--data", folder / "worker", "--database", database, "--lease", "3"],
        folder / "worker.log", {**environment, **clocks["worker"].environment})
    numbers, posts, kills, others = itertools.count(), {}, 0, collections.Counter()
    is_over = threading.Event()

    def client():
        while not is_over.is_set():
            number = next(numbers)
            posts[number] = submit(url, number)

    clients = [threading.Thread(target=client) for _ in range(CLIENTS)]
    kills_wanted, others_wanted = options.faults // KILLS, options.faults // OTHERS
    of_store = options.faults - kills_wanted - others_wanted
    store.remaining = of_store
    for thread in clients:
        thread.start()
    end = time.monotonic() + TIMEOUT
    while store.remaining or kills < kills_wanted or others.total() < others_wanted:
        if time.monotonic() > end:
            sys.exit(f"only {store.done} and {kills} kills within {TIMEOUT} s")
        # The others are spread over the faults of the store.
        share = store.done.total() / of_store
        if kills < kills_wanted and share >= kills / kills_wanted:
            (service if chance.random() < 0.3 else worker).restart()
            kills += 1
        if others.total() < others_wanted and share >= others.total() / others_wanted:
            if chance.random() < 0.5:
                others[break_cache(folder / chance.choice(["api", "worker"]) / "blob-cache", chance)] += 1
            else:
                name = chance.choice(list(clocks))
                clocks[name].step(chance.choice(STEPS[:2] if name == "PostgreSQL" else STEPS))
                others[f"clock of the {name}" if name != "PostgreSQL" else "clock of PostgreSQL"] += 1
        time.sleep(0.05)
    for clock in clocks.values():
        clock.step(0)
    is_over.set()
    for thread in clients:
        thread.join()
    wait_until_ready(url, posts)
    service.stop()
    worker.stop()
    more = ["--data", folder / "api"]
    for command in (["gc"], ["verify", "--deep"]):
        result = subprocess.run([take5, *command, *more], env=environment, capture_output=True, text=True)
        assert result.returncode == 0, f"{command}: {result.stdout}{result.stderr}"
    assert len(set(posts.values())) == len(posts), "two submissions are one post"
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted((store.done + others).items()))
    return f"{store.done.total() + others.total() + kills} faults ({kinds}, {kills} kills), {len(posts)} posts"


def wait_until_ready(url, posts):
    end = time.monotonic() + TIMEOUT
    left = dict(posts)
    while left:
        assert time.monotonic() < end, f"not ready within {TIMEOUT} s: {left}"
        for number, post in list(left.items()):
            found = send(f"{url}/v1/posts/{post}")
            if found and found["status"] == "ready":
                del left[number]
            elif found:
                assert found["status"] == "processing", found
        time.sleep(0.1)


if __name__ == "__main__":
    main()
