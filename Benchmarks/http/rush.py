#!/usr/bin/env python3
"""Measures a rush: many more moments in five minutes than a service composes meanwhile, which is killed twice.
docs/benchmarks.md, "rush", describes what is measured."""

import argparse
import http.client
import json
import pathlib
import shutil
import statistics
import tempfile
import threading
import time

from content import Moment
from crowd import percentile
from processes import Service, free_ports
from report import Figure, Report

SLOTS = 2
# The moments that are composed without a rush, for the rate.
UNDISTURBED = 20
READS_A_SECOND = 40
READERS = 4
# One author submits so many at once, after a third of the time.
EAGER = 10
RETRY = 0.1


class Town:
    """A service that may be killed and started again at the same address, and what its clients have seen."""

    def __init__(self, program, folder):
        self._program, self._folder, self._port = program, folder, free_ports(1)[0]
        self._is_up, self._lock, self.outages = threading.Event(), threading.Lock(), []
        self.refused, self.posts, self.looks, self.submissions, self.reads = [], [], [], [], []
        self.service = None

    def start(self, slots):
        self.service = Service(self._program, self._folder, slots=slots, port=self._port)
        self._is_up.set()

    def stop(self):
        self._is_up.clear()
        self.service.stop()

    def kill(self):
        """Ends the service without a warning, as a lack of memory does, and starts it again."""
        begin = time.monotonic()
        self._is_up.clear()
        self.service.process.kill()
        self.service.process.wait()
        self.start(SLOTS)
        self.outages.append((begin, time.monotonic()))

    def kill_at(self, times):
        """Kills the service at each of the times, or when it is back from the kill before."""
        for time_of_kill in times:
            time.sleep(max(0, time_of_kill - time.monotonic()))
            self.kill()

    def request(self, method, path, headers, body=b""):
        """Sends a request until a service responds; returns when its last byte was sent, the status, the headers and the body."""
        while True:
            self._is_up.wait()
            connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
            try:
                connection.request(method, path, body, headers)
                sent = time.monotonic()
                response = connection.getresponse()
                return sent, response.status, response.headers, response.read()
            except (OSError, http.client.HTTPException):
                time.sleep(RETRY)
            finally:
                connection.close()

    def film(self, moments, author, number, waits):
        """Submits a moment, and waits for its look."""
        headers = moments.headers | {"Take5-User": author, "Idempotency-Key": f"moment-{number}"}
        sent, status, fields, body = self.request("POST", "/v1/posts", headers, moments.new(author).bytes())
        answered = time.monotonic()
        with self._lock:
            self.submissions.append(answered - sent)
            if status != 202:
                return self.refused.append(f"{status} {body[:200]}")
            self.posts.append(fields["location"])
        while waits:
            _, status, _, body = self.request(
                "GET", fields["location"], {"Take5-User": author, "Prefer": "wait=50; for=look"})
            post = json.loads(body) if status == 200 else {}
            if post.get("assets") or post.get("status") not in ("processing", None):
                with self._lock:
                    return self.looks.append(time.monotonic() - sent)
            time.sleep(RETRY)

    def text(self):
        """Submits a post of text; returns its path."""
        return self.request(
            "POST", "/v1/posts", {"Content-Type": "application/json"},
            b'{"kind": "photo", "author": "ada", "caption": "The lake at dusk"}')[2]["location"]

    def start_readers(self, path, stop):
        """Starts the clients that read; returns their threads."""
        readers = [threading.Thread(target=self.read, args=[number, path, stop]) for number in range(READERS)]
        for thread in readers:
            thread.start()
        return readers

    def read(self, number, path, stop):
        """Reads a list and a post in turn at a fixed rate, but not while there is no service. A time begins when the request was due."""
        due, turn = time.monotonic() + number / READS_A_SECOND, 0
        while not stop.is_set():
            time.sleep(max(0, due - time.monotonic()))
            outages = len(self.outages)
            _, status, _, _ = self.request("GET", ["/v1/posts?limit=20", path][turn % 2], {})
            end = time.monotonic()
            if self._is_up.is_set() and len(self.outages) == outages:
                with self._lock:
                    self.reads.append((end - due, status))
                due += READERS / READS_A_SECOND
            else:
                due = end
            turn += 1

    def rows(self, query):
        """Returns the rows of a query, as lists of texts."""
        text = self.service.database("psql", "--no-psqlrc", "--tuples-only", "--no-align", f"--command={query}")
        return [line.split("|") for line in text.splitlines() if line]

    def wait_for_end(self, deadline):
        """Waits until all posts are composed, or for so many seconds."""
        end = time.monotonic() + deadline
        while self.rows("SELECT count(*) FROM job WHERE kind IN ('post', 'look')") != [["0"]] and time.monotonic() < end:
            time.sleep(3)


def rate(ends, begin, end):
    """The compositions a minute between two times, from the first end in between to the last one."""
    within = sorted(time for time in ends if begin <= time <= end)
    return 60 * (len(within) - 1) / (within[-1] - within[0]) if len(within) > 1 else 0


def saturated(ends, begin):
    """The compositions a minute from a time on until the slots are no longer all busy."""
    return rate(ends, begin, sorted(ends)[-SLOTS - 1]) if len(ends) > SLOTS else 0


def undisturbed(program, folder, moments, count):
    """The compositions a minute of so many moments with a full queue, beside the same reads and no submission."""
    town, stop = Town(program, folder), threading.Event()
    town.start(0)
    for number in range(count):
        town.film(moments, f"early-{number}", number, False)
    text = town.text()
    town.stop()
    town.start(SLOTS)
    readers = town.start_readers(text, stop)
    try:
        town.wait_for_end(600)
        return saturated(*ends(town))
    finally:
        stop.set()
        for thread in readers:
            thread.join()
        town.stop()
        shutil.rmtree(folder / "data")


def ends(town):
    """When the compositions ended, and when the last look did, in seconds since the epoch."""
    rows = town.rows("SELECT kind, extract(epoch FROM finished_at) FROM job_done WHERE kind IN ('post', 'look')")
    times = {kind: [float(time) for found, time in rows if found == kind] for kind in ("post", "look")}
    return times["post"], max(times["look"], default=0)


def rush(program, folder, moments, count, seconds):
    """Runs the rush; returns the town, when the arrivals began and ended, and the waits of each author in seconds."""
    town, stop = Town(program, folder), threading.Event()
    town.start(SLOTS)
    readers = town.start_readers(town.text(), stop)
    begin, start, films = time.time(), time.monotonic(), []
    eager = range(count // 3, count // 3 + min(EAGER, count // 3))
    killer = threading.Thread(target=town.kill_at, args=[[start + seconds * part for part in (0.4, 0.75)]])
    killer.start()
    for number in range(count):
        place = eager[0] if number in eager else number
        time.sleep(max(0, start + place * seconds / count - time.monotonic()))
        author = "eager" if number in eager else f"author-{number}"
        films.append(threading.Thread(target=town.film, args=[moments, author, number, True]))
        films[-1].start()
    time.sleep(max(0, start + seconds - time.monotonic()))
    end = time.time()
    for thread in [*films, killer]:
        thread.join()
    town.wait_for_end(10 * count + 120)
    stop.set()
    for thread in readers:
        thread.join()
    waits = {}
    for author, wait in town.rows(
            "SELECT post.author, extract(epoch FROM job_done.finished_at - post.created_at) FROM post JOIN job_done "
            "ON job_done.public_id = post.job WHERE post.status = 'ready'"):
        waits.setdefault(author, []).append(float(wait))
    return town, (begin, end), [statistics.mean(values) for values in waits.values()]


def measure(report, program, folder, clips, count, seconds):
    moments = Moment(clips)
    calm = undisturbed(program, folder, moments, min(UNDISTURBED, count))
    town, (begin, end), waits = rush(program, folder, moments, count, seconds)
    try:
        composed, last_look = ends(town)
        ready = int(town.rows("SELECT count(*) FROM post WHERE status = 'ready' AND job IS NOT NULL")[0][0])
        left = saturated(composed, max(end, last_look))
    finally:
        town.stop()
    reads = [1000 * wait for wait, status in town.reads if status == 200]
    report.add(Figure("rush.look.p99", "99th percentile of the time from the last byte to the look, s", [percentile(town.looks, 99)],
                      at_most=3, details=[
                          ("median, s", [statistics.median(town.looks)], 2), ("longest, s", [max(town.looks)], 1),
                          ("looks", [len(town.looks)], 0)]))
    report.add(Figure("rush.refused", f"submissions refused of {count}", [len(town.refused)], at_most=0, decimals=0, details=[
        ("99th percentile of the response to a submission, s", [percentile(town.submissions, 99)], 2)]))
    report.add(Figure("rush.read.p99", "99th percentile of reads, ms", [percentile(reads, 99)], at_most=250, decimals=1, details=[
        ("median, ms", [statistics.median(reads)], 1), ("reads", [len(reads)], 0),
        ("other statuses", [len(town.reads) - len(reads)], 0)]))
    report.add(Figure("rush.drain", "compositions a minute after the arrivals, against those without a rush", [left / calm], at_least=0.95,
                      details=[("after the arrivals, a minute", [left], 1), ("without a rush, a minute", [calm], 1)]))
    report.add(Figure("rush.wait", "the longest mean wait of an author for compositions, against the median", [
        max(waits) / statistics.median(waits)], at_most=2, details=[
            ("longest, s", [max(waits)], 0), ("median, s", [statistics.median(waits)], 0), ("authors", [len(waits)], 0)]))
    report.add(Figure("rush.lost", "posts that were accepted and are not ready", [len(town.posts) - ready], at_most=0, decimals=0))
    report.add(Figure("rush.moments", f"moments in {seconds} s", [count], decimals=0))
    report.add(Figure("rush.arriving", "compositions a minute during the arrivals, with the kills", [rate(composed, begin, end)], decimals=1,
                      details=[("against those without a rush", [rate(composed, begin, end) / calm], 2)]))
    report.add(Figure("rush.outage", "longest time without a service after a kill, s", [
        max(end - begin for begin, end in town.outages)], decimals=1, details=[("kills", [len(town.outages)], 0)]))
    for refusal in town.refused[:3]:
        print("refused:", refusal)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--take5", default=".build/release/take5", help="the program")
    parser.add_argument("--clips", default=".build/bench", help="the folder with the clips that 'bench --footage' makes")
    parser.add_argument("--folder", default=".build/bench", help="a folder on the disk where all files are written")
    parser.add_argument("--moments", type=int, default=300, help="how many moments are submitted")
    parser.add_argument("--seconds", type=int, default=300, help="in what time")
    parser.add_argument("--write", metavar="FILE", help="replace the tables of this document")
    options = parser.parse_args()
    clips = {name: max(pathlib.Path(options.clips).resolve().glob(f"{name}-[0-9].mp4")) for name in ("front", "back")}
    report, folder = Report(1, "bench-rush"), pathlib.Path(options.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    root = pathlib.Path(tempfile.mkdtemp(prefix="rush-", dir=folder))
    # PostgreSQL runs as another user, which must be able to enter the folder.
    root.chmod(0o755)
    try:
        measure(report, pathlib.Path(options.take5).resolve(), root, clips, options.moments, options.seconds)
    finally:
        shutil.rmtree(root)
    if options.write:
        report.write(options.write)


main()
