"""The faults: which, in which order and for how long follows from a seed. Each one heals."""

import collections
import contextlib
import os
import random
import shutil
import signal
import threading
import time

from machines import parent, signal_all

APIS, WORKERS, DATABASES = ("api-1", "api-2"), ("worker-1", "worker-2"), ("db-1", "db-2")
# The machines that talk with each other.
LINKS = (
    [("client", "proxy")] + [("proxy", api) for api in APIS]
    + [(user, service) for user in APIS + WORKERS for service in (*DATABASES, "store")] + [DATABASES])
# How often each kind comes, in addition to one cut of each pair of machines.
WEIGHTS = {
    "cut": 22, "cut one way": 18, "reset": 14, "loss": 20, "slow": 12,
    "kill api": 10, "kill worker": 10, "kill media": 12, "kill proxy": 6, "kill store": 10, "kill PostgreSQL": 6,
    "kill standby": 5, "terminate": 8, "freeze api": 7, "freeze worker": 8, "freeze proxy": 4, "freeze store": 6,
    "freeze PostgreSQL": 5, "freeze standby": 5,
    "lying cache": 8, "removed cache": 4, "step api": 4, "step worker": 4, "step PostgreSQL": 6,
}
# The machine and the kinds that a cluster without a bucket does not have.
OF_BUCKETS = ("store", "cache")
# While the standby is promoted, its server and its machine are left alone: a promotion that fails is repeated by an operator.
OF_DATABASES = ("PostgreSQL", "standby", "terminate")


class Fault:
    def __init__(self, kind, target, chance):
        self.kind, self.target, self.pick = kind, target, chance.random()
        # Most heal before a lease expires, some after it.
        self.seconds = round(chance.uniform(0.5, 3) if chance.random() < 0.8 else chance.uniform(6, 14), 1)
        self.share, self.rate = chance.randrange(5, 45), chance.choice([256, 1000, 4000])

    @property
    def is_of_databases(self):
        return any(word in self.kind for word in OF_DATABASES) or any(name in DATABASES for name in self.target or ())

    def __str__(self):
        return f"{self.kind}{' ' + ' | '.join(self.target) if self.target else ''}"


def draw(seed, count, pairs, has_bucket):
    """The faults of a run: a cut of each pair of machines, and others of all kinds; of a short one some of both."""
    chance = random.Random(seed)
    is_there = lambda words: has_bucket or not any(word in OF_BUCKETS for word in words)
    pairs, links = filter(is_there, pairs), list(filter(is_there, LINKS))
    plan = [Fault("cut", pair, chance) for pair in pairs]
    weights = {kind: weight for kind, weight in WEIGHTS.items() if is_there(kind.split())}
    kinds = chance.choices(list(weights), list(weights.values()), k=max(count - len(plan), min(count, len(plan))))
    for kind in kinds:
        pair = None
        if kind in ("cut", "cut one way", "reset", "loss"):
            pair = chance.choice(links)
            pair = pair if chance.random() < 0.5 else pair[::-1]
        elif kind == "slow":
            pair = (chance.choice(("proxy", *APIS, *WORKERS, *DATABASES, *(["store"] if has_bucket else []))),)
        plan.append(Fault(kind, pair, chance))
    chance.shuffle(plan)
    return plan[:count]


class Weather:
    """Performs the faults, several at a time, and keeps the time with the submissions."""

    def __init__(self, network, services, database, take5, plan, log):
        self.take5 = take5
        self.network, self.services, self.database = network, services, database
        self.plan, self.log, self.done = plan, log, collections.Counter()
        self.lock, self.next, self.changed = threading.Lock(), 0, threading.Condition()
        self.finished = 0
        self.failures, self.running, self.slowed = [], [], set()
        # Whether a fault may not begin at the moment.
        self.is_held = lambda fault: False

    def perform_all(self, parallel, reached):
        """Performs the faults to their end. `reached` is called with the number of those that have ended."""
        threads = [threading.Thread(target=self.perform_some, args=(reached,), daemon=True) for _ in range(parallel)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def perform_some(self, reached):
        while True:
            with self.lock:
                if self.next == len(self.plan) or self.failures:
                    return
                fault, self.next = self.plan[self.next], self.next + 1
            self.keep_pace(self.next / len(self.plan))
            # Databases are never broken while they are promoted.
            with self.changed:
                self.changed.wait_for(lambda: not self.is_held(fault))
                self.running.append(fault)
            try:
                self.log(f"{fault} for {fault.seconds} s")
                getattr(self, fault.kind.split()[0])(fault)
                self.log(f"{fault} has healed")
            except Exception as failure:
                self.failures.append(f"{fault}: {failure!r}")
            with self.changed:
                self.running.remove(fault)
                self.done[fault.kind] += 1
                self.changed.notify_all()
            reached(self.done.total())

    def keep_pace(self, share):
        """Waits for the jobs, so that the last faults do not come when only the first jobs have ended; never for long."""
        end = time.monotonic() + 2
        while self.finished < share - 0.05 and time.monotonic() < end:
            time.sleep(0.1)

    @contextlib.contextmanager
    def quiet(self, is_held=lambda fault: True):
        """Waits until no such fault lasts, and lets none begin."""
        with self.changed:
            self.is_held = is_held
            self.changed.wait_for(lambda: not any(map(is_held, self.running)))
        try:
            yield
        finally:
            with self.changed:
                self.is_held = lambda fault: False
                self.changed.notify_all()

    def quiet_databases(self):
        return self.quiet(lambda fault: fault.is_of_databases)

    def is_struck(self, name):
        """Whether a fault is at the processes of an API or a worker."""
        with self.changed:
            return any(fault.kind.split()[-1] in ("api", "worker") and self.service(fault).name == name for fault in self.running)

    @contextlib.contextmanager
    def rules(self, *rules):
        """Rules of nftables, each with its machine and its chain, for a time."""
        with contextlib.ExitStack() as stack:
            for name, chain, rule in rules:
                stack.callback(self.network[name].add_rule(chain, rule))
            yield

    # Each of these is a kind of fault, by the first word of its name.

    def cut(self, fault):
        to, other = fault.target
        rules = [(to, "input", f"ip saddr {self.network[other].address} drop")]
        if fault.kind == "cut":
            rules.append((other, "input", f"ip saddr {self.network[to].address} drop"))
        with self.rules(*rules):
            time.sleep(fault.seconds)

    def reset(self, fault):
        """Resets the connections of the pair, and refuses new ones."""
        to, other = fault.target
        with self.rules((to, "input", f"ip saddr {self.network[other].address} meta l4proto tcp reject with tcp reset"),
                        (other, "input", f"ip saddr {self.network[to].address} meta l4proto tcp reject with tcp reset")):
            time.sleep(fault.seconds)

    def loss(self, fault):
        to, other = fault.target
        with self.rules((to, "input", f"ip saddr {self.network[other].address} numgen random mod 100 < {fault.share} drop")):
            time.sleep(fault.seconds)

    def slow(self, fault):
        machine = self.network[fault.target[0]]
        with self.exclusive(machine.name):
            heal = machine.slow_down(fault.rate)
            time.sleep(fault.seconds)
            heal()

    def kill(self, fault):
        if fault.kind in ("kill PostgreSQL", "kill standby", "kill store", "kill media"):
            if pids := self.victims(fault):
                signal_all([pids[int(fault.pick * len(pids))]], signal.SIGKILL)
        else:
            self.service(fault).kill()

    def terminate(self, fault):
        self.database.primary.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'take5' ORDER BY random() LIMIT 4")

    def freeze(self, fault):
        pids = self.victims(fault)
        signal_all(pids, signal.SIGSTOP)
        time.sleep(fault.seconds)
        signal_all(pids, signal.SIGCONT)

    def lying(self, fault):
        """Gives the copies of a cache other bytes, or another length; nothing heals them but take5."""
        for number, copy in enumerate(self.cache(fault).glob("??/*")):
            # One that is the file of an upload, too, is no copy yet: the bucket may have been away.
            with contextlib.suppress(FileNotFoundError), copy.open("r+b") as file:
                if os.fstat(file.fileno()).st_nlink > 1:
                    continue
                if number % 2:
                    file.truncate(100)
                else:
                    file.write(b"rotten " * 100)

    def removed(self, fault):
        shutil.rmtree(self.cache(fault), ignore_errors=True)

    def cache(self, fault):
        names = APIS + WORKERS
        return self.take5.data(self.network[names[int(fault.pick * len(names))]]) / "blob-cache"

    def step(self, fault):
        """Steps a clock by two hours, back or forward; that of PostgreSQL back, and then forward again."""
        what = fault.kind.split()[1]
        clock = self.database.primary.clock if what == "PostgreSQL" else self.take5.clocks[self.service(fault).name]
        with self.exclusive(clock.file):
            clock.step(7200 if fault.share % 2 and what != "PostgreSQL" else -7200)
            time.sleep(fault.seconds)
            clock.step(0)

    def victims(self, fault):
        """The processes that a fault may affect, in the order of their numbers."""
        what = fault.kind.split()[1]
        if what in ("PostgreSQL", "standby"):
            server = self.database.primary if what == "PostgreSQL" else self.database.standby
            return sorted(server.processes() if fault.kind.startswith("freeze") else server.backends())
        if what == "store":
            # Those that their parents start again.
            servers = [pid for pid, name in self.network["store"].processes().items() if name.startswith("swift-")]
            return sorted(pid for pid in servers if parent(pid) in servers)
        if what == "media":
            return sorted(pid for name in WORKERS for pid, comm in self.services[name].processes().items() if comm == "take5-media")
        return sorted(self.service(fault).processes())

    def service(self, fault):
        what = fault.kind.split()[1]
        names = {"api": APIS, "worker": WORKERS, "proxy": ("proxy",)}[what]
        if fault.kind.startswith("kill"):
            # The others live to the end, which shows what they hold by then.
            names = names[:1]
        return self.services[names[int(fault.pick * len(names))]]

    @contextlib.contextmanager
    def exclusive(self, name):
        """A machine has one limit of its rate at a time, and a clock one step."""
        with self.changed:
            self.changed.wait_for(lambda: name not in self.slowed)
            self.slowed.add(name)
        try:
            yield
        finally:
            with self.changed:
                self.slowed.remove(name)
                self.changed.notify_all()
