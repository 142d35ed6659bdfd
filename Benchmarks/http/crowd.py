"""Six hundred uploads at once: what fails, what the service needs for them, and how long others wait meanwhile."""

import contextlib
import multiprocessing
import resource
import shutil
import statistics
import threading
import time

import phones
from content import Clip, Moment
from processes import Service
from report import Figure
from uploading import SMALL, Client

PHONES = 600
SECONDS = 15
PARTS = 10
READS_A_SECOND = 100
READERS = 10
# When what is not done counts as failed.
TIMEOUT = 120


def percentile(values, percent):
    """Returns a percentile by the nearest-rank method."""
    return sorted(values)[max(0, -(-len(values) * percent // 100) - 1)]


def create(content):
    return phones.Request("POST", "/v1/uploads", {"Upload-Complete": "?0", "Upload-Length": len(content)})


def append(content, start, count, seconds):
    headers = {
        "Upload-Offset": start, "Upload-Complete": "?1" if start + count == len(content) else "?0",
        "Content-Type": "application/partial-upload"}
    return phones.Request("PATCH", None, headers, content, start, count, seconds)


class Whole:
    """An upload and one request with all bytes."""

    name, meaning = "whole", "an upload in one PATCH"

    def __init__(self):
        self._clip = Clip("back.mp4", SMALL)

    def requests(self, index):
        content = self._clip.new()
        return [create(content), append(content, 0, len(content), SECONDS)]


class Parts(Whole):
    """An upload in ten requests, each of which is on the disk before its response."""

    name, meaning = "parts", "an upload in ten PATCHes"

    def requests(self, index):
        content = self._clip.new()
        part = len(content) // PARTS
        return [create(content)] + [append(content, start, part, SECONDS / PARTS) for start in range(0, len(content), part)]


class Form:
    """A moment as a form, which is stored with its post and its job."""

    name, meaning = "form", "a moment as a form"

    def __init__(self):
        self._moment = Moment()

    def requests(self, index):
        author = f"author-{index}"
        content, headers = self._moment.new(author), self._moment.headers | {"Take5-User": author}
        return [phones.Request("POST", "/v1/posts", headers, content, 0, len(content), SECONDS)]


def send(way, address, results):
    """Runs all phones, in a process of its own; reports what failed, and how long the responses took."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    crowd = [phones.Phone(address, way.requests(index)) for index in range(PHONES)]
    phones.run(crowd, TIMEOUT)
    results.put(([phone.failure for phone in crowd if phone.failure], [wait for phone in crowd for wait in phone.waits]))


def read(address, path, stop, results):
    """Reads a post at a fixed rate, in a process of its own. A time begins when the request was due: a request that waits for
    the one before waits for the service."""
    latencies, start = [], time.monotonic()

    def reader(number):
        client, due = Client(address), start + number / READS_A_SECOND
        while not stop.is_set():
            time.sleep(max(0, due - time.monotonic()))
            client.expect(200, "GET", path, {})
            latencies.append(time.monotonic() - due)
            due += READERS / READS_A_SECOND

    threads = [threading.Thread(target=reader, args=[number]) for number in range(READERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put(latencies)


def storm(program, folder, way, *, frozen=False):
    """Runs one crowd against a new service; returns its failures, the waits for responses in ms, the latencies of reads in
    ms, and the memory in MB."""
    service = Service(program, folder)
    try:
        post = Client(service.address).expect(
            201, "POST", "/v1/posts", {"Content-Type": "application/json"},
            b'{"kind": "photo", "author": "ada", "caption": "The lake at dusk"}')["location"]
        sent, reads, stop = multiprocessing.Queue(), multiprocessing.Queue(), multiprocessing.Event()
        readers = multiprocessing.Process(target=read, args=[service.address, post, stop, reads])
        senders = multiprocessing.Process(target=send, args=[way, service.address, sent])
        service.forget_peak()
        with service.frozen_database() if frozen else contextlib.nullcontext():
            before = sum(service.cpu())
            if not frozen:
                readers.start()
            senders.start()
            failures, waits = sent.get()
            senders.join()
            cpu = sum(service.cpu()) - before
        stop.set()
        latencies = [] if frozen else reads.get()
        if not frozen:
            readers.join()
        return failures, [1000 * wait for wait in waits], [1000 * latency for latency in latencies], service.peak(), cpu
    finally:
        service.stop()
        shutil.rmtree(folder / "data")


def measure(report, program, folder, runs):
    """Measures uploads whole, in parts and as forms, and the first of these with a database that does nothing."""
    for way in [Whole(), Parts(), Form()]:
        results = [storm(program, folder, way) for _ in range(runs)]
        name = f"http.crowd.{way.name}"
        causes = sorted({failure for result in results for failure in result[0]})
        details = [("longest wait for a response, ms", [max(result[1], default=0) for result in results], 0)]
        details += [(f"{cause}", [result[0].count(cause) for result in results], 0) for cause in causes]
        report.add(Figure(
            f"{name}.failed", f"failed of {PHONES}: {way.meaning}", [len(result[0]) for result in results], at_most=0, decimals=0,
            details=details))
        report.add(Figure(
            f"{name}.memory", "resident memory, MB", [result[3] for result in results], at_most=150, decimals=0,
            details=[("CPU of the service and PostgreSQL, s", [result[4] for result in results], 1)]))
        report.add(Figure(
            f"{name}.read_p99", "99th percentile of small reads meanwhile, ms",
            [percentile(result[2], 99) for result in results], at_most=250, decimals=1, details=[
                ("median, ms", [statistics.median(result[2]) for result in results], 1),
                ("longest, ms", [max(result[2]) for result in results], 1)]))
    for way in [Whole(), Parts()]:
        results = [storm(program, folder, way, frozen=True) for _ in range(runs)]
        report.add(Figure(
            f"http.crowd.{way.name}.frozen.failed", f"failed of {PHONES} while PostgreSQL is stopped: {way.meaning}",
            [len(result[0]) for result in results], at_most=0, decimals=0,
            details=[("longest wait for a response, ms", [max(result[1], default=0) for result in results], 0)]))
