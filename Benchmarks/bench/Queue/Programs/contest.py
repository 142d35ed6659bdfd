"""What the programs of all peers share: measures by name, processes that begin together, one line of JSON."""

import argparse
import asyncio
import json
import os
import struct
import sys
import time

import uvloop

INTERVAL = 0.02


class Arrivals:
    """When jobs that say when they were sent began to run."""

    def __init__(self, count):
        self.latencies = [None] * count
        self.left = count
        self.done = asyncio.Event()

    def take(self, text):
        """Called first thing by a handler; index -1 is of the job that finds out whether the worker is there."""
        now = time.monotonic_ns()
        index, sent = map(int, text.split())
        if index < 0:
            tell({"ready": True})
            return
        if self.latencies[index] is None:
            self.left -= 1
        self.latencies[index] = (now - sent) / 1e6
        if self.left == 0:
            self.done.set()


def tell(result):
    sys.stdout.write(json.dumps(result) + "\n")
    sys.stdout.flush()


async def produce(count, enqueue):
    """Enqueues a job every 20 ms, each with its index and the time just before the call."""
    beginning = time.monotonic()
    for index in range(count):
        await asyncio.sleep(max(0, beginning + index * INTERVAL - time.monotonic()))
        await enqueue(f"{index} {time.monotonic_ns()}")


async def timed(count, work):
    """Runs what enqueues so many jobs, once it is connected."""
    beginning = time.monotonic_ns()
    await work
    tell({"jobs": count, "seconds": (time.monotonic_ns() - beginning) / 1e9})


def drain(processes, connect):
    """Lets processes drain the queue together and tells how long it took, from the word to begin to the last end.

    connect() opens what a process needs, before the clock runs; what it returns drains the queue until it is empty and
    everything is committed, and says how many jobs it ran.
    """
    word, begin = os.pipe()
    ends = [drainer(connect, word, begin) for _ in range(processes)]
    os.close(word)
    for end in ends:
        if os.read(end, 1) != b"r":
            sys.exit("a worker did not start")
    beginning = time.monotonic_ns()
    os.write(begin, b"b" * processes)
    results = [read(end, 16) for end in ends]
    for _ in ends:
        if os.wait()[1] != 0:
            sys.exit("a worker failed")
    ran, last = zip(*(struct.unpack("qq", result) for result in results))
    tell({"jobs": sum(ran), "seconds": (max(last) - beginning) / 1e9})


def drainer(connect, word, begin):
    """Forks a process that drains when told to; returns where it reports."""
    end, report = os.pipe()
    if os.fork() != 0:
        os.close(report)
        return end
    os.close(end)
    os.close(begin)

    async def work():
        async with connect() as run:
            os.write(report, b"r")
            os.read(word, 1)
            ran = await run()
            os.write(report, struct.pack("qq", ran, time.monotonic_ns()))

    uvloop.run(work())
    sys.stdout.flush()
    os._exit(0)


def read(end, count):
    taken = b""
    while len(taken) < count:
        part = os.read(end, count - len(taken))
        if not part:
            sys.exit("a worker failed")
        taken += part
    return taken


def main(peer):
    """Runs what the command line asks of a peer: install, single, bulk, worker and producer are its coroutines."""
    parser = argparse.ArgumentParser()
    parser.add_argument("measure", choices=["install", "single", "bulk", "drain", "worker", "producer"])
    parser.add_argument("count", type=int, nargs="?", default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--concurrency", type=int, default=1)
    parser.add_argument("--connections", type=int, default=1)
    parser.add_argument("--batch", type=int, default=1)
    settings = parser.parse_args()
    if settings.measure == "drain":
        drain(settings.processes, lambda: peer.drainer(settings))
    else:
        uvloop.run(getattr(peer, settings.measure)(settings))
        if settings.measure in ("install", "producer"):
            tell({"jobs": settings.count})
