"""A cluster of machines through faults: what was acknowledged exists once, and is ready by itself.

main.py PATH-OF-take5 PATH-OF-nginx [--storage bucket|folder] [--jobs N] [--faults N] [--seed N] [--clients N] [--write PATH] [--folder PATH]

As root. The machines are network namespaces, which are removed at the end, and so are those of a run that was killed. If something is
wrong, the status is 1, and the folder with the logs of all processes stays."""

import argparse
import fcntl
import pathlib
import random
import shutil
import signal
import sys
import threading
import time

from checks import Checks
from clients import Crowd, Ledger, repeat_acknowledged
from database import PROGRAMS, Database, Server
from faults import APIS, WORKERS, Weather, draw
from figures import table, write
from levels import Memory, levels, too_large, unmeasured, wait_for_levels
from machines import Network, remove_all, wait_until
from processes import Service
from readers import Readers
from recoveries import Recoveries
from services import Clock, Take5, listens, start_proxy, start_store

# Of a run that writes its figures.
JOBS, FAULTS = 5000, 200


class Run:
    def __init__(self, options):
        self.options, self.folder, self.start = options, options.folder, time.monotonic()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.logs = self.folder / "logs"
        self.logs.mkdir(parents=True)
        # PostgreSQL runs as another user, which must be able to enter the folder.
        self.folder.chmod(0o755)
        self.events = (self.logs / "events.log").open("w")

    def log(self, text):
        self.events.write(f"{time.monotonic() - self.start:8.1f} {text}\n")
        self.events.flush()

    def report(self, text):
        self.log(text)
        print(f"{time.monotonic() - self.start:6.0f} s  {text}", flush=True)

    def build(self):
        """Creates the machines, and starts everything on them."""
        network = self.network = Network()
        services, environment = {}, {}
        self.services = services
        if self.options.storage == "bucket":
            services["store"], environment = start_store(network["store"], self.folder, self.logs)
        self.database = Database(*(
            Server(network[name], self.folder, self.logs, Clock(self.folder / f"{name}-clock", self.options.take5)) for name in ("db-1", "db-2")))
        self.database.create()
        self.take5 = Take5(self.options.take5.resolve(), self.folder, self.logs, {**environment, "TAKE5_DATABASE_URL": self.database.url})
        status, output = self.take5.command(network["worker-1"], "init", log="init")
        if status:
            raise RuntimeError(f"take5 init: {output}")
        for name in ("api-1", "api-2"):
            services[name] = self.take5.serve(network[name], network["proxy"])
        for name in ("worker-1", "worker-2"):
            services[name] = self.take5.work(network[name])
        services["proxy"] = start_proxy(self.options.nginx.resolve(), network["proxy"], [network["api-1"], network["api-2"]], self.folder, self.logs)
        self.on_network(lambda: wait_until(
            lambda: all(listens(network[name], port) for name, port in (("api-1", 8080), ("api-2", 8080), ("proxy", 80))), "the APIs and nginx listen"))

    def on_network(self, work):
        """Does something in a thread on the machine of the clients."""
        result, failures = [], []

        def enter():
            try:
                self.network["client"].enter()
                result.append(work())
            except BaseException as failure:
                failures.append(failure)

        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
        if failures:
            raise failures[0]
        return result[0]

    def go(self):
        options = self.options
        self.report(f"seed {options.seed}: {options.jobs} jobs, {options.faults} faults, blobs in a {options.storage}")
        self.build()
        self.report("the cluster runs")
        ledger = self.ledger = Ledger(self.logs / "ledger.jsonl")
        weather = self.weather = Weather(
            self.network, self.services, self.database, self.take5,
            draw(options.seed, options.faults, self.network.pairs(), self.take5.has_bucket), self.log)
        checks = Checks(self.database, ledger)
        # Each has one row, which may not be there yet.
        before = {**levels(checks.ask), "worker": len(WORKERS)}
        crowd = Crowd(self.network, ledger, options.jobs, options.clients, f"c{options.seed}")
        readers = Readers(self.network, crowd.watched)
        memory = Memory({name: self.services[name] for name in APIS + WORKERS}, weather.is_struck)
        recoveries = Recoveries(self, weather, crowd)
        loaded = time.monotonic()

        def reached(count):
            crowd.allow((count + 8) / (options.faults + 8))
            recoveries.reached(count)
            if count % 20 == 0:
                self.report(f"{count} faults, {len(ledger.acknowledged)} acknowledged")

        def watch():
            """Counts the jobs that have ended, while a database answers."""
            while weather.done.total() < options.faults:
                if rows := self.database.primary.query("SELECT count(*) FROM job_done", "take5", timeout=2):
                    weather.finished = int(rows[0][0]) / options.jobs
                time.sleep(0.5)

        threading.Thread(target=watch, daemon=True).start()
        crowd.allow(8 / (options.faults + 8))
        weather.perform_all(options.parallel, reached)
        crowd.allow(1)
        recoveries.finish()
        if weather.failures:
            return weather.failures
        self.report(f"all faults have healed; {len(ledger.acknowledged)} acknowledged")
        if not crowd.wait(options.deadline):
            open_keys = crowd.unacknowledged()
            checks.wrong.append(
                f"{len(open_keys)} submissions are not acknowledged after {options.deadline} s, such as {', '.join(open_keys[:5])}")
        self.on_network(lambda: repeat_acknowledged(self.network, ledger, 100, options.deadline))
        checks.wrong += [text for text in ledger.violations if text not in checks.wrong]
        submitted = time.monotonic()
        self.report("everything is acknowledged; the jobs end")
        checks.wait_for_jobs(options.deadline)
        finished = time.monotonic()
        self.report("the jobs have ended; checks")
        checks.check()
        checks.wrong += wait_for_levels(checks.ask, before, options.deadline)
        checks.wrong += readers.finish(checks.ask, recoveries.histories)
        growths = memory.stop().growths()
        checks.wrong += too_large(growths)
        # Those that no fault kills.
        checks.wrong += unmeasured(growths, (APIS[1], WORKERS[1]), time.monotonic() - recoveries.restored)
        self.verify(checks)
        text = table(self, checks, recoveries, readers, growths, (loaded, submitted, finished))
        print(text, end="")
        # A short run has other figures.
        if options.write and not checks.wrong and options.jobs >= JOBS and options.faults >= FAULTS:
            write(options.write, f"cluster with a {options.storage}", text)
        return checks.wrong

    def verify(self, checks):
        for name in ("api-1", "api-2", "worker-1", "worker-2"):
            status, output = self.take5.command(self.network[name], "gc", log=f"gc-{name}")
            self.log(f"gc on {name}: {output}")
            if status:
                checks.wrong.append(f"take5 gc on {name}: status {status}: {output[-500:]}")
        status, output = self.take5.command(self.network["worker-1"], "verify", "--deep", log="verify")
        if status:
            checks.wrong.append(f"take5 verify --deep: status {status}: {output[-1500:]}")
        print(output.strip())
        print(self.take5.command(self.network["worker-1"], "jobs", "stats", log="stats")[1].strip())

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("take5", type=pathlib.Path)
    parser.add_argument("nginx", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--faults", type=int, default=FAULTS)
    parser.add_argument("--storage", choices=("bucket", "folder"), default="bucket", help="of the blobs: a bucket, or a folder that all machines share")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--clients", type=int, default=24)
    parser.add_argument("--parallel", type=int, default=3, help="faults at a time")
    parser.add_argument("--deadline", type=int, default=600, help="seconds for what remains after the faults")
    parser.add_argument("--write", type=pathlib.Path, help="the document that gets the figures if nothing is wrong")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/var/tmp/take5-cluster"))
    options = parser.parse_args()
    if not PROGRAMS:
        raise SystemExit("PostgreSQL is not installed")
    # Two runs would remove each other's machines.
    guard = open("/run/take5-cluster.lock", "w")
    try:
        fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise SystemExit("another run of the cluster has not ended") from None
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    remove_all()
    run = Run(options)
    wrong = ["it was interrupted"]
    try:
        wrong = run.go()
    except Exception as failure:
        wrong = [f"{type(failure).__name__}: {failure}"]
        raise
    finally:
        # A second signal does not end what the first one began.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        Service.is_over = True
        remove_all()
        if wrong:
            print(f"WRONG, with the seed {options.seed}:", *wrong, f"the logs: {run.logs}", sep="\n  ", flush=True)
        else:
            print("nothing is lost, nothing is done twice, everything is ready by itself")
            shutil.rmtree(options.folder)
    sys.exit(1 if wrong else 0)


main()
