"""Measures the sender against h2load, with the same provider and requests alike, in turns."""
import json
import re
import statistics
import subprocess
import tempfile
import time

COUNT = 100_000
SECONDS = 60
RATIO = 0.3
ROUNDS = 3
ROUND_COUNT = 10_000


def h2load(port, authorization, count):
    body = json.dumps({"aps": {"alert": {"title": "Zeit zu filmen", "body": "Du hast fünf Minuten."}, "sound": "default"},
                       "kind": "window", "data": {"post": "1"}})
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(body)
        file.flush()
        fields = {"authorization": authorization, "apns-topic": "com.example.take5", "apns-push-type": "alert", "apns-priority": "10",
                  "apns-id": "eabeae54-14a8-11e5-b60b-1697f925ec7b", "apns-expiration": str(int(time.time()) + 300),
                  "apns-collapse-id": "window-2026-11-28"}
        arguments = [part for name, value in fields.items() for part in ("-H", f"{name}: {value}")]
        run = subprocess.run(["h2load", "-n", str(count), "-c", "2", "-m", "500", "-d", file.name, *arguments,
                              f"https://localhost:{port}/3/device/{'0' * 64}"], stdout=subprocess.PIPE, text=True, check=True)
    assert f" {count} 2xx" in run.stdout, run.stdout
    return float(re.search(r"([\d.]+) req/s", run.stdout)[1])


def probe(program, order, count):
    text = json.dumps(order | {"count": count, "timeout": 60})
    report = json.loads(subprocess.run([program], input=text, stdout=subprocess.PIPE, text=True, check=True).stdout)
    assert report["outcomes"] == {"delivered": count}, report
    return report


def measure(program, order, authorization, port):
    """Prints the figures; returns the number of bars that are missed."""
    pairs = []
    for _ in range(ROUNDS):
        theirs = h2load(port, authorization, ROUND_COUNT)
        ours = ROUND_COUNT / probe(program, order, ROUND_COUNT)["seconds"]
        pairs.append((ours, theirs, ours / theirs))
    ratio = statistics.median(pair[2] for pair in pairs)
    for ours, theirs, quotient in pairs:
        print(f"        {ours:,.0f} requests a second, h2load {theirs:,.0f}: {quotient:.2f}")
    whole = probe(program, order, COUNT)
    print(f"        {COUNT:,} notifications in {whole['seconds']:.1f} s, {whole['cpu_seconds'] / COUNT * 1e6:.0f} µs of CPU each, "
          f"{whole['max_rss_kilobytes'] / 1024:.0f} MiB")
    missed = 0
    for holds, text in ((ratio >= RATIO, f"at least {RATIO} of the requests a second of h2load"),
                        (whole["seconds"] <= SECONDS, f"{COUNT:,} notifications within {SECONDS} s")):
        print("ok     " if holds else "FAILED ", text, flush=True)
        missed += not holds
    return missed
