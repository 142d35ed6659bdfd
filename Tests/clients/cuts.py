"""Submits moments of 20 MB with `take5 submit` through a network that breaks ten times in each:

cuts.py PATH-OF-take5 [--submissions N] [--seed N] [--parallel N] [--client PATH-OF-take5]

At ten bytes that the seed chooses, the connections are reset, vanish for the client alone, or, once in ten submissions, stall.
In addition the first response to a submission is lost. Then each post exists once, with the bytes of its clips, and of all
bytes at most 1.05 were forwarded."""

import argparse
import collections
import concurrent.futures
import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import random
import subprocess
import tempfile
import time

from link import Link
from service import BYTES, KEY, Service, clip, free_ports, wait_until
from wire import request

CUTS = 10
MAX_RATIO = 1.05
AUTHOR = "cuts"


@dataclasses.dataclass
class Clip:
    path: pathlib.Path
    hash: str

    def __init__(self, folder, seed, camera):
        data = clip(f"{seed} {camera}", BYTES // 2, camera)
        self.path, self.hash = folder / f"{camera}.mp4", hashlib.sha256(data).hexdigest()
        self.path.write_bytes(data)


class Submission:
    """A moment, and where the network breaks through which it is submitted."""

    def __init__(self, number, options):
        self.seed, self.client = f"{options.seed}/{number}", options.client
        chance = random.Random(self.seed)
        places = chance.sample(range(BYTES), CUTS)
        self.cuts = [(place, chance.choice([Link.reset, Link.vanish])) for place in places]
        if number % 10 == 0:
            self.cuts[0] = places[0], Link.stall

    def run(self, service, folder):
        """Submits the moment; returns the number of bytes that were forwarded."""
        clips = [Clip(folder, self.seed, camera) for camera in ("front", "back")]
        link = Link(service.port, [(place, lambda how=how: how(link)) for place, how in self.cuts], lost=b"POST /v1/posts ")
        with contextlib.closing(link):
            command = [self.client, "submit", "post", *(clip.path for clip in clips), "--server",
                       f"http://127.0.0.1:{link.port}", "--author", AUTHOR, "--caption", self.seed, "--json"]
            run = subprocess.run(command, env={**os.environ, "TAKE5_API_KEY": KEY}, capture_output=True, timeout=600)
            assert run.returncode == 0, run.stderr.decode()
            assert not link.stops and not link.lost, (link.stops, link.lost)
        for clip in clips:
            stored = service.data / "blobs" / clip.hash[:2] / clip.hash
            wait_until(stored.exists, f"{stored} is stored")
            assert hashlib.sha256(stored.read_bytes()).hexdigest() == clip.hash, stored
            # All moments together would have gigabytes.
            stored.unlink()
        return link.forwarded


def captions(service, author):
    """The captions of all posts of an author, each as often as it is there."""
    found, cursor = collections.Counter(), ""
    while cursor is not None:
        path = f"/v1/posts?author={author}&status=processing&status=ready&limit=100{cursor}"
        response = request(service.url, "GET", path, {})
        assert response.status == 200, response
        page = json.loads(response.body)
        found.update(post["caption"] for post in page["items"])
        cursor = page["next"] and f"&cursor={page['next']}"
    return found


def run(service, folder, options):
    submissions = [Submission(number, options) for number in range(options.submissions)]

    def submit(submission):
        with tempfile.TemporaryDirectory(dir=folder) as name:
            return submission.run(service, pathlib.Path(name))

    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.parallel) as pool:
        forwarded = list(pool.map(submit, submissions))
    seconds = time.monotonic() - start
    assert captions(service, AUTHOR) == collections.Counter(submission.seed for submission in submissions)
    ratio, worst = sum(forwarded) / (BYTES * len(forwarded)), max(forwarded) / BYTES
    print(
        f"{len(forwarded)} moments of {BYTES} bytes, each cut {CUTS} times: each exists once; {ratio:.4f} of the bytes were "
        f"forwarded, {worst:.4f} in the worst one; {seconds:.0f} s")
    assert ratio <= MAX_RATIO, f"{ratio} is more than {MAX_RATIO}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("take5", type=pathlib.Path)
    parser.add_argument("--client", type=pathlib.Path)
    parser.add_argument("--submissions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parallel", type=int, default=8)
    options = parser.parse_args()
    options.client = (options.client or options.take5).resolve()
    with tempfile.TemporaryDirectory(prefix="take5-cuts-") as name:
        folder = pathlib.Path(name)
        # PostgreSQL runs as another user, which must be able to enter the folder.
        folder.chmod(0o755)
        [port] = free_ports(1)
        with contextlib.closing(Service(options.take5.resolve(), folder, port, "--slots", "0")) as service:
            run(service, folder, options)


if __name__ == "__main__":
    main()
