#!/usr/bin/env python3
"""watch.py LOG COMMAND ARGUMENT…: runs a process of tests, and makes it end.

What the process prints goes to standard output and to the end of LOG. Its events (--event-stream-output-path) say which tests run. It is
killed when no test has started or ended for three minutes, for each core's load above 1 as many times as long; a test of Tests/long.txt
may take longer. Whatever it leaves behind is killed too. Lines that begin with "== " are for report.pl: what did not end, what was left
behind, and the status.

TAKE5_TESTS_SILENCE and TAKE5_TESTS_GRACE are other numbers of seconds, for the test of this program."""

import ctypes
import itertools
import json
import os
import pathlib
import select
import signal
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
SILENCE = float(os.environ.get("TAKE5_TESTS_SILENCE", 180))
# What a test process starts may end a little later than itself, such as a server of PostgreSQL.
GRACE = float(os.environ.get("TAKE5_TESTS_GRACE", 30))
WIDTH = int(os.environ.get("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", 1 << 20))
LONG = pathlib.Path(__file__).with_name("long.txt")
PROGRESS = {"runStarted", "testStarted", "testCaseStarted", "testCaseEnded", "testEnded", "testSkipped", "runEnded"}


def stretched(seconds):
    """The time on this machine now."""
    return seconds * max(1, os.getloadavg()[0] / os.cpu_count())


def long_tests():
    """The seconds that some tests may take, by the beginning of their ids."""
    lines = [line.split() for line in LONG.read_text().splitlines() if line and not line.startswith("#")]
    assert len(lines) <= 5, f"{LONG} has {len(lines)} tests, and five may take longer"
    return {name: 60 * float(minutes) for minutes, name in lines}


class Tests:
    """The tests of a process, by its events.

    All tests start with the run, and wait for their turn: those that run are as many as the width permits, in the order of their starts.
    Only the cases of a test with arguments have events of their own, when it is their turn."""

    def __init__(self):
        self.names = {}
        self.single = set()
        self.started = {}
        self.cases = {}
        self.times = [(0, [])]
        self.progress = time.monotonic()
        self.is_whole = False
        self.long = long_tests()
        self.rest = b""

    def receive(self, data):
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            try:
                record = json.loads(line)
            except ValueError:
                continue
            payload = record.get("payload", {})
            if record.get("kind") == "test":
                suite = payload["id"].partition("/")[0]
                self.names[payload["id"]] = f"{suite}: {payload.get('displayName', payload['name'])}"
                if payload["kind"] == "function" and not payload.get("isParameterized"):
                    self.single.add(payload["id"])
            elif payload.get("kind") in PROGRESS:
                self.note(payload)

    def note(self, event):
        self.progress = time.monotonic()
        test = event.get("testID")
        case = (test, event.get("_testCase", {}).get("displayName"))
        match event["kind"]:
            case "runEnded":
                self.is_whole = True
            case "testStarted" if test in self.single:
                self.started[test, None] = 1
            case "testEnded":
                self.started.pop((test, None), None)
            case "testCaseStarted":
                self.cases[case] = self.cases.get(case, 0) + 1
            case "testCaseEnded" if self.cases.get(case, 0) > 1:
                self.cases[case] -= 1
            case "testCaseEnded":
                self.cases.pop(case, None)
        self.times.append((event.get("instant", {}).get("absolute", self.progress), self.running()))

    def running(self):
        cases = [key for key, count in self.cases.items() for _ in range(count)]
        return cases + list(itertools.islice(self.started, max(0, WIDTH - len(cases))))

    def name(self, key):
        test, case = key
        return self.names.get(test, test) + (f" [{' '.join(case[:100].split())}]" if case else "")

    def not_ended(self):
        return [self.name(key) for key in self.running()]

    def at(self, moment):
        """The tests that ran at a time, which is known to a tick: one of them has started what started then."""
        tick = 1 / os.sysconf("SC_CLK_TCK")
        before = [running for when, running in self.times if when < moment - tick][-1:]
        within = [running for when, running in self.times if moment - tick <= when <= moment + tick]
        return list(dict.fromkeys(self.name((test, None)) for running in before + within for test, _ in running))

    def limit(self):
        """How long it may take now until a test starts or ends."""
        long = [seconds for start, seconds in self.long.items() if any(test.startswith(start) for test, _ in self.running())]
        return stretched(max([SILENCE, *long]))


def processes():
    """The descendants of this process that have not ended: the parent of each, when it started, by the monotonic clock, and its command."""
    suspended = time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic()
    parents, found = {}, {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", "rb") as file:
                before, _, after = file.read().rpartition(b")")
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                command = file.read().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            continue
        fields = after.split()
        parents.setdefault(int(fields[1]), []).append(int(entry))
        if fields[0] not in (b"Z", b"X"):
            name = before.partition(b"(")[2].decode(errors="replace")
            found[int(entry)] = (int(fields[1]), int(fields[19]) / os.sysconf("SC_CLK_TCK") - suspended, command or name)
    family, waiting = {}, [os.getpid()]
    while waiting:
        for child in parents.get(waiting.pop(), []):
            waiting.append(child)
            if child in found:
                family[child] = found[child]
    return family


class Watcher:
    def __init__(self, log, command):
        self.log_path = log
        self.log = None
        self.tests = Tests()
        self.status = None
        try:
            self.log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        except OSError as error:
            self.say(f"log {log}: {error.strerror}")
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.output, output = os.pipe()
        self.events, events = os.pipe()
        self.wakeup, wakeup = os.pipe()
        for end in (self.output, self.events, self.wakeup, wakeup):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self.interrupted)
        command += ["--event-stream-version", "0", "--event-stream-output-path", f"/dev/fd/{events}"]
        actions = [(os.POSIX_SPAWN_DUP2, output, 1), (os.POSIX_SPAWN_DUP2, output, 2)]
        os.set_inheritable(events, True)
        # Python ignores these, and a process that it starts would too.
        reset = [signal.SIGPIPE, signal.SIGXFSZ]
        self.process = os.posix_spawnp(command[0], command, os.environ, file_actions=actions, setsigdef=reset)
        os.close(output)
        os.close(events)
        self.open = {self.output: self.write, self.events: self.tests.receive}

    def interrupted(self, number, _):
        self.kill()
        os._exit(128 + number)

    def say(self, text):
        self.write(f"\n== {text}\n".encode())

    def write(self, data):
        rest = data
        while rest:
            rest = rest[os.write(1, rest) :]
        rest = data
        while rest and self.log is not None:
            try:
                rest = rest[os.write(self.log, rest) :]
            except OSError as error:
                self.log = None
                self.say(f"log {self.log_path}: {error.strerror}")

    def receive(self, seconds):
        """Waits so long for output, an event or the end of a child; returns whether there was output or an event."""
        ready, _, _ = select.select([*self.open, self.wakeup], [], [], seconds)
        for end in ready:
            try:
                data = os.read(end, 1 << 16)
            except BlockingIOError:
                continue
            if end == self.wakeup:
                continue
            if data:
                self.open[end](data)
            else:
                del self.open[end]
        self.reap()
        return bool(set(ready) - {self.wakeup})

    def drain(self):
        """Receives what is there, though a process that was left behind may write on."""
        end = time.monotonic() + GRACE
        while self.receive(0) and time.monotonic() < end:
            pass

    def reap(self):
        # Also what was left behind and became a child of this process: a test may wait for its end.
        while True:
            try:
                child, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if child == 0:
                return
            if child == self.process:
                code = os.waitstatus_to_exitcode(status)
                self.status = code if code >= 0 else 128 - code

    def kill(self):
        """Ends all descendants; what waits for a device cannot be ended."""
        end = time.monotonic() + GRACE
        while (left := processes()) and time.monotonic() < end:
            for child in left:
                try:
                    os.kill(child, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.receive(0.05)
        return left

    def run(self):
        killed = False
        while self.status is None:
            self.receive(1)
            silent, limit = time.monotonic() - self.tests.progress, self.tests.limit()
            if self.status is None and silent > limit:
                self.say(f"silent for {silent:.0f} s")
                killed = True
                os.kill(self.process, signal.SIGKILL)
                break
        end = time.monotonic() + stretched(GRACE)
        while time.monotonic() < end and (self.status is None or processes()):
            self.receive(0.1)
        self.drain()
        for name in self.tests.not_ended():
            self.say(f"not ended: {name}")
        # What a killed process has left behind is no fault of its tests.
        for parent, moment, command in processes().values() if not killed and not self.tests.not_ended() else []:
            if parent == os.getpid():
                self.say(f"left: {command[:300]}; started while these ran: {'; '.join(self.tests.at(moment)) or 'none'}")
        for _, _, command in self.kill().values():
            self.say(f"cannot be killed: {command[:300]}")
        self.drain()
        status = 128 + signal.SIGKILL if self.status is None else self.status
        self.say(f"status {status}, {'after its last test' if self.tests.is_whole else 'while no test ran'}")


watcher = Watcher(sys.argv[1], sys.argv[2:])
try:
    watcher.run()
finally:
    watcher.kill()
