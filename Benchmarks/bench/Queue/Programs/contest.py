"""The common part of the peers' programs: commands, processes that start together, replies as lines of JSON."""

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
    """The latencies of jobs whose arguments contain an index and the time of the call that enqueued them."""

    def __init__(self, count):
        self.latencies = [None] * count
        self.left = count
        self.done = asyncio.Event()

    def take(self, text):
        """Called first by a handler; the job with index -1 shows that the worker is ready."""
        now = time.monotonic_ns()
        index, sent = map(int, text.split())
        if index < 0:
            reply({"ready": True})
            return
        if self.latencies[index] is None:
            self.left -= 1
        self.latencies[index] = (now - sent) / 1e6
        if self.left == 0:
            self.done.set()


def reply(result):
    sys.stdout.write(json.dumps(result) + "\n")
    sys.stdout.flush()


async def produce(count, enqueue):
    """Enqueues a job every 20 ms with its index and the time just before the call."""
    start = time.monotonic()
    for index in range(count):
        await asyncio.sleep(max(0, start + index * INTERVAL - time.monotonic()))
        await enqueue(f"{index} {time.monotonic_ns()}")


async def timed(count, work):
    """Awaits `work`, which enqueues `count` jobs on an open connection, and prints the time."""
    start = time.monotonic_ns()
    await work
    reply({"jobs": count, "seconds": (time.monotonic_ns() - start) / 1e9})


def drain(processes, connect):
    """Drains the queue with several processes and prints the time from the common start to the last end.

    connect() opens the connections of a process before the measurement. It yields a coroutine function that drains the
    queue until it is empty and everything is committed, and returns the number of jobs that it ran.
    """
    started, start_pipe = os.pipe()
    ends = [drainer(connect, started, start_pipe) for _ in range(processes)]
    os.close(started)
    for end in ends:
        if os.read(end, 1) != b"r":
            sys.exit("a worker did not start")
    start = time.monotonic_ns()
    os.write(start_pipe, b"b" * processes)
    results = [read(end, 16) for end in ends]
    for _ in ends:
        if os.wait()[1] != 0:
            sys.exit("a worker failed")
    ran, last = zip(*(struct.unpack("qq", result) for result in results))
    reply({"jobs": sum(ran), "seconds": (max(last) - start) / 1e9})


def drainer(connect, started, start_pipe):
    """Forks a process that drains once it reads a byte from `started`; returns the pipe of its report."""
    end, report = os.pipe()
    if os.fork() != 0:
        os.close(report)
        return end
    os.close(end)
    os.close(start_pipe)

    async def work():
        async with connect() as run:
            os.write(report, b"r")
            os.read(started, 1)
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
    """Runs a command of a peer, which has the coroutines install, single, bulk, worker and producer."""
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
            reply({"jobs": settings.count})
