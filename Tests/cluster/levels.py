"""What a service holds while it works, and must have given back in the end: rows of its tables, and memory of its processes."""

import pathlib
import re
import statistics
import threading
import time

from machines import wait_until

TABLES = pathlib.Path(__file__).resolve().parents[1] / "Support" / "SchemaTesting" / "StoredTables.swift"
# The tables of which none waits for anything, but whose rows go as well.
TRANSIENT = ("blob_damage", "collection_hold", "event_ticket", "job_dead", "media_crash", "quarantined_input", "worker")
# A process has got what it needs after this time, and one that lives for less shows no growth; in seconds.
WARM, LONG = 60, 300
LIMIT = 1.1
# Less is the memory of one picture.
LEAST = 20 << 20


def waiting():
    """The tables with rows that something waits for, and their conditions: those that the tests of Swift look at."""
    part = TABLES.read_text().split("static let waiting = [")[1].split("\n  ]")[0]
    return dict(re.findall(r'"(\w+)": "([^"]+)"', part))


def levels(ask):
    """The rows of each table that go by themselves."""
    conditions = {**waiting(), **{name: "true" for name in TRANSIENT}}
    counts = ", ".join(f"(SELECT count(*) FROM {name} WHERE {condition})" for name, condition in sorted(conditions.items()))
    return dict(zip(sorted(conditions), map(int, ask(f"SELECT {counts}")[0])))


def wait_for_levels(ask, before, seconds):
    """Waits until the tables have as many rows as before; returns what is wrong."""
    above = {}

    def is_level():
        now = levels(ask)
        above.clear()
        above.update({name: count for name, count in now.items() if count > before[name]})
        return not above

    try:
        wait_until(is_level, "the level of the tables", seconds, 1)
    except TimeoutError:
        return [f"{name} has {count} rows, and had {before[name]}" for name, count in above.items()]
    return []


def resident(pid):
    """The RSS of a process in bytes; nothing if it has ended."""
    try:
        return int(re.search(r"^VmRSS:\s+(\d+) kB$", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)[1]) << 10
    except (FileNotFoundError, ProcessLookupError, TypeError):
        return None


class Memory:
    """Samples the RSS of the processes of services, each counted from its start, while no fault is at their service."""

    def __init__(self, services, is_struck):
        self.services, self.is_struck, self.ends = services, is_struck, threading.Event()
        self.samples = {}
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.ends.wait(2):
            for name, service in self.services.items():
                if self.is_struck(name):
                    continue
                for pid, kind in service.processes().items():
                    if size := resident(pid):
                        self.samples.setdefault((name, kind or "take5", pid), []).append((time.monotonic(), size))

    def stop(self):
        self.ends.set()
        self.thread.join()
        return self

    def growths(self):
        """The RSS after a tenth of the life of each process that has lived for long, and at its end."""
        return {process: growth for process, samples in self.samples.items() if (growth := growth_of(samples))}


def growth_of(samples):
    began, ended = samples[0][0], samples[-1][0]
    if ended - began < LONG:
        return None
    first = began + max((ended - began) / 10, WARM)
    early = [size for at, size in samples if first <= at <= first + 30]
    late = [size for at, size in samples if at >= ended - 30]
    return (statistics.median(early), statistics.median(late)) if early else None


def too_large(growths):
    """Those that have grown by more than a tenth, as texts."""
    return [f"{kind} {pid} of {name} has grown from {first / 1e6:.0f} to {last / 1e6:.0f} MB"
            for (name, kind, pid), (first, last) in growths.items() if last > LIMIT * first and last > LEAST]


def unmeasured(growths, names, seconds):
    """The services that have run for so long and have no process whose growth is known, as texts."""
    known = {name for name, *_ in growths}
    return [f"nothing is known of the memory of {name} in {seconds:.0f} s" for name in names if seconds > 1.5 * LONG and name not in known]
