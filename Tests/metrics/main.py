"""Watches a service and workers with Prometheus and a collector of traces, breaks what each alert is about, and checks that
the alert fires:

main.py PATH-OF-take5 [--only TEXT]

TAKE5_TEST_S3 names the bucket, as Tests/s3/store.sh sets it. `--only` runs the breaks whose names contain a text."""

import argparse
import contextlib
import functools
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

import traces
from breaks import BREAKS, Bucket
from programs import RULES, ROOT, Postgres, Prometheus, Take5, free_ports, wait_until

from link import Link

DASHBOARD = ROOT / "Sources" / "Packaging" / "grafana" / "take5.json"
HERE = pathlib.Path(__file__).resolve().parent
# Fires at the end, by a transaction that is open for most of the test.
LAST = "Take5OldTransaction"


class System:
    """The watched processes: PostgreSQL, an object store behind a link, the service, and two workers."""

    def __init__(self, program, folder, stack):
        url = os.environ["TAKE5_TEST_S3"]
        self.folder, self.bucket = folder, Bucket(url)
        self.link = Link(int(url.rsplit(":", 1)[1]))
        stack.callback(self.link.close)
        self.collector = traces.Collector()
        stack.callback(self.collector.close)
        self.postgres = Postgres(folder)
        stack.callback(self.postgres.stop)
        blobs = url.rsplit(":", 1)[0] + f":{self.link.port}"
        options = ["--database", self.postgres.url, "--blobs", blobs]
        ports = free_ports(3)
        self.service = Take5(program, "serve", folder, ports[0], [*options, "--slots", "0"], self.collector.environment)
        stack.callback(self.service.stop)
        self.workers = [
            Take5(program, "worker", folder, port, [*options, "--lease", "2", "--background-slots", "0"],
                self.collector.environment)
            for port in ports[1:]]
        for process in self.workers:
            stack.callback(process.stop)
        self.prometheus = Prometheus(folder, [self.service, *self.workers])
        stack.callback(self.prometheus.stop)


def check_rules():
    """promtool accepts the rules, and its unit tests of them pass."""
    subprocess.run(["promtool", "check", "rules", RULES], check=True)
    subprocess.run(["promtool", "test", "rules", HERE / "rules.test.yml"], check=True)


def check_metrics(process):
    """promtool accepts the metrics of a process."""
    text = process.get("/metrics")[1]
    subprocess.run(["promtool", "check", "metrics"], input=text, check=True)


def check_names(system):
    """Every metric of the rules and the dashboard has been scraped; every alert is tested and documented."""
    texts = [RULES.read_text(), *(target["expr"] for panel in json.loads(DASHBOARD.read_text())["panels"]
                                 for target in panel.get("targets", []))]
    named = {name for text in texts for name in re.findall(r"\btake5_[a-z0-9_]+", text)}
    scraped = system.prometheus.names()
    # A text may name a histogram as a whole.
    missing = {name for name in named if not {name, f"{name}_count"} & scraped}
    assert not missing, f"no process has these metrics: {sorted(missing)}"
    documented = (ROOT / "docs" / "operations.md").read_text()
    alerts = re.findall(r"alert: (\w+)", RULES.read_text())
    untested = set(alerts) - {LAST}.union(*(break_.alerts for break_ in BREAKS))
    assert not untested, f"nothing breaks what these are about: {untested}"
    for name in alerts:
        assert f"`{name}`" in documented, f"docs/operations.md does not have {name}"


def refuse(system):
    """A limit refuses a submission: there is a metric of that, which the dashboard shows, and no alert."""
    system.service.restart("--author-submissions", "1")
    system.service.submit("often")
    system.service.submit("often", expected=429)
    wait_until(lambda: "take5_http_refused_total" in system.prometheus.names(), "the metric of refusals")


def check_healthy(system):
    """Moments become ready and clients read, and no alert is pending or fires."""
    end = time.monotonic() + 30
    number = 0
    while time.monotonic() < end:
        system.service.wait_for(system.service.submit(f"healthy-{number}"))
        system.service.get("/v1/posts")
        number += 1
        assert not (alerts := system.prometheus.alerts()), f"in a healthy system: {alerts}"


def print_logs(folder, error, *_):
    """Prints the ends of the logs after a failure."""
    for log in sorted(folder.glob("*.log")) if error else []:
        lines = [line for line in log.read_text().splitlines() if '"level":"info"' not in line]
        print(f"{log.name}:", *lines[-20:], sep="\n", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("take5", type=pathlib.Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    check_rules()
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="take5-metrics-", dir="/var/tmp")))
        # PostgreSQL runs as another user, which must be able to enter the folder.
        folder.chmod(0o755)
        stack.push(functools.partial(print_logs, folder))
        system = System(options.take5.resolve(), folder, stack)
        check_healthy(system)
        print("healthy: no alert", flush=True)
        for process in [system.service, system.workers[0]]:
            check_metrics(process)
        if options.only in "traces":
            traces.check(system)
        for break_ in BREAKS:
            if options.only not in break_.__name__:
                continue
            start = time.monotonic()
            early = break_.alerts & system.prometheus.alerts()
            assert not early, f"before {break_.__name__}: {early}"
            break_(system)
            print(f"{break_.__name__}: {time.monotonic() - start:.0f} s: {break_.__doc__}", flush=True)
            if break_.alerts & {"Take5DatabaseDown"}:
                # Not before: it ends with the server.
                old = system.postgres.session("BEGIN; CREATE TABLE old (id int)")
        if not options.only:
            system.prometheus.wait_for(LAST, timeout=400)
            old.kill()
            print("old: a transaction was open for five minutes", flush=True)
            refuse(system)
            check_names(system)
    print("every alert fires when what it is about breaks, and none in a healthy system")


main()
