#!/usr/bin/env python3
"""Runs programs that print what processes of tests print through watch.py and report.pl: `make test` begins with it, in some seconds."""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent

# A process of tests: `stream` is where its events go.
FAKE = """
import json, os, signal, subprocess, sys, time
stream = open(sys.argv[sys.argv.index("--event-stream-output-path") + 1], "w")
def event(kind, test=None, case=None):
    payload = {"kind": kind, "testID": f"FakeTests.Fake/{test}()/Fake.swift:1:1", "instant": {"absolute": time.monotonic()}}
    if case:
        payload["_testCase"] = {"displayName": case}
    print(json.dumps({"kind": "event", "payload": payload}), file=stream, flush=True)
def begin(test, case=None):
    payload = {"id": f"FakeTests.Fake/{test}()/Fake.swift:1:1", "name": f"{test}()", "displayName": f"it is {test}", "kind": "function"}
    payload["isParameterized"] = case is not None
    print(json.dumps({"kind": "test", "payload": payload}), file=stream, flush=True)
    event("testStarted", test)
    if case: event("testCaseStarted", test, case)
    print(f'◇ Test "it is {test}" started.', flush=True)
def end(test, case=None):
    if case: event("testCaseEnded", test, case)
    event("testEnded", test)
    print(f'✔ Test "it is {test}" passed after 0.001 seconds.', flush=True)
def end_run():
    event("runEnded")
    print("✔ Test run with 2 tests in 1 suite passed after 0.001 seconds.", flush=True)
def sleep():
    while True:
        time.sleep(60)
begin("first")
end("first")
"""

WIDTH = {"SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH": "2"}
failures = []
# Each waits for some seconds.
pool = concurrent.futures.ThreadPoolExecutor(16)
runs = []


def commands():
    """The command lines of all processes."""
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            pass


def check(*arguments, **more):
    runs.append(pool.submit(run, *arguments, **more))


def run(name, script, expected, status=1, log=None, seconds=60):
    """Runs a process of tests, and expects what is reported, each a pattern, and that it ends."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "fake.py").write_text(FAKE + script)
        command = f"'{HERE}/watch.py' '{log or folder + '/log'}' '{sys.executable}' '{folder}/fake.py' | '{HERE}/report.pl' 0"
        environment = os.environ | {"TAKE5_TESTS_SILENCE": "3", "TAKE5_TESTS_GRACE": "0.3"} | WIDTH
        load = max(1, os.getloadavg()[0] / os.cpu_count())
        start = time.monotonic()
        try:
            report = subprocess.run(
                ["bash", "-o", "pipefail", "-c", command], cwd=HERE.parent, env=environment, capture_output=True, text=True,
                timeout=seconds * load)
        except subprocess.TimeoutExpired as error:
            failures.append(f"{name}: has not ended after {time.monotonic() - start:.0f} s: {error.output}")
            return
        problems = [pattern for pattern in expected if not re.search(pattern, report.stdout, re.MULTILINE)]
        if report.returncode != status:
            problems.append(f"status {status}, not {report.returncode}")
        problems += [f"no process is left, not {command}" for command in commands() if folder in command]
        if problems:
            failures.append(f"{name}: expected {problems} in:\n{report.stdout}{report.stderr}")


check("well", "begin('second'); end('second'); end_run()", [r"^2 passed, 0 failed$"], status=0)
check(
    "silent", "begin('second', 'true'); sleep()",
    [
        r"^no test started or ended for \d+ s",
        r"^error: this test started and did not end: FakeTests.Fake: it is second \[true\]$", r"^what failed:",
        r"^1 passed, 1 failed$",
    ])
check(
    "silent, and its children print on",
    """
begin('second')
subprocess.Popen([sys.executable, '-c', 'import time\\nwhile True: print("x", flush=True); time.sleep(0.1)', sys.argv[0]], start_new_session=True)
sleep()
""", [r"did not end: FakeTests.Fake: it is second$", r"^1 passed, 1 failed$"])
check(
    "records issues without an end",
    "begin('second')\nwhile True: print('✘ Test x recorded an issue at Fake.swift:1:1: no', flush=True); event('issueRecorded', 'second'); time.sleep(0.1)",
    [r"did not end: FakeTests.Fake: it is second$", r"^1 passed, 1 failed$"])
check(
    "over its time limit",
    """
begin('second'); begin('third')
print('✘ Test "it is second" recorded an issue at Fake.swift:1:1: Time limit was exceeded: 60.000 seconds', flush=True)
end('third'); sleep()
""", [r"Time limit was exceeded", r"did not end: FakeTests.Fake: it is second$", r"^2 passed, 1 failed$"])
check(
    "traps", "begin('second'); begin('third'); end('third'); os.kill(os.getpid(), signal.SIGILL)",
    [r"did not end: FakeTests.Fake: it is second$", r"^2 passed, 1 failed$"])
check(
    "traps while tests wait for their turn", "for test in ('second', 'third', 'fourth'): begin(test)\nos.kill(os.getpid(), signal.SIGILL)",
    [r"did not end: FakeTests.Fake: it is second$", r"did not end: FakeTests.Fake: it is third$", r"^1 passed, 2 failed$"])
check(
    "traps behind many events", """
print('{"kind": "event", "payload": {"kind": "testSkipped"}}\\n' * 4000, file=stream)
begin('second'); os.kill(os.getpid(), signal.SIGILL)
""", [r"did not end: FakeTests.Fake: it is second$", r"^1 passed, 1 failed$"])
check("exits", "begin('second'); os._exit(0)", [r"did not end: FakeTests.Fake: it is second$", r"^1 passed, 1 failed$"])
check(
    "is killed between two tests", "os.kill(os.getpid(), signal.SIGKILL)",
    [r"ended with status 137, while no test ran$", r"^1 passed, 1 failed$"])
check(
    "prints without the ends of lines",
    """
begin('second'); sys.stdout.write('a'); end('second'); begin('third'); sys.stdout.write('b')
print('✘ Test "it is third" recorded an issue at Fake.swift:1:1: no\\nc✘ Test "it is third" failed after 0.001 seconds.', flush=True)
event('testEnded', 'third'); sys.stdout.write('d'); end_run()
""", [r"^✘ Test .it is third. recorded an issue", r"^✔ Test run with 2 tests", r"^2 passed, 1 failed$"])
check(
    "has known issues",
    """
begin('second'); print('━ Test "it is second" recorded a known issue at Fake.swift:1:1: no\\n↳ yes', flush=True)
event('testEnded', 'second'); print('━ Test "it is second" passed after 0.1 seconds with 1 known issue.'); event("runEnded")
print("━ Test run with 2 tests in 1 suite passed after 0.1 seconds with 1 known issue.", flush=True)
""", [r"^━ Test run with 2 tests", r"^2 passed, 0 failed$"], status=0)
check("hangs after its last test", "end_run(); sleep()", [r"status 137, after its last test$", r"^1 passed, 1 failed$"])
check(
    "leaves a process behind that has its output",
    """
begin('second')
subprocess.Popen(['bash', '-c', 'sleep 1000; sleep 1000', sys.argv[0]], start_new_session=True)
end('second'); begin('third'); end('third'); end_run()
""", [
        r"^error: a test left a process behind, which was killed: bash -c sleep 1000.*FakeTests.Fake: it is second",
        r"^3 passed, 1 failed$",
    ])
check(
    "leaves a process behind that ends by itself", "subprocess.Popen(['sleep', '0.2']); begin('second'); end('second'); end_run()",
    [r"^2 passed, 0 failed$"], status=0)
check("finds no room for its log", "begin('second'); end('second'); end_run()", [r"^error: log /dev/full: No space left", r"1 failed$"],
      log="/dev/full")

for each in runs:
    each.result()

# Each test that may take longer is there.
for line in (HERE / "long.txt").read_text().splitlines():
    if not line or line.startswith("#"):
        continue
    target, suite, function = re.fullmatch(r"\d+ (\w+)\.(\w+)/(\w+)\(.*", line).groups()
    text = "".join(path.read_text() for path in (HERE / target).rglob("*.swift"))
    if not re.search(rf"\b{suite}\b", text) or not re.search(rf"func {function}\(", text):
        failures.append(f"long.txt: {line}: no such test")

print(*failures, sep="\n", end="\n" if failures else "")
sys.exit(1 if failures else 0)
