"""What operators do during the faults: a restored backup, a promotion that loses nothing, and one that forgets commits."""

import collections
import contextlib
import signal
import threading
import time

from machines import signal_all, wait_until

# An asynchronous standby lags until so many submissions were acknowledged without it, and for so long at most.
FORGOTTEN, LAG = 30, 30


class Recoveries:
    """Each at its share of the faults, one after the other. The other faults go on, but for those that an operator would wait for."""

    def __init__(self, run, weather, crowd):
        self.run, self.weather, self.crowd, self.faults = run, weather, crowd, run.options.faults
        self.database, self.ledger, self.take5 = run.database, run.ledger, run.take5
        self.turns = [(1 / 6, self.restore), (1 / 3, self.promote), (1 / 2, self.rejoin), (2 / 3, self.forget), (5 / 6, self.rejoin)]
        self.lock, self.done, self.ways = threading.Lock(), collections.Counter(), []
        # When the services were there again with the backup, and when the first failover began.
        self.restored = self.promoted = time.monotonic()
        # The number after which each history begins, and the time before which no reader can know it.
        self.histories = []

    def reached(self, count):
        """Performs what is due at a number of faults, unless another thread does."""
        if self.lock.acquire(blocking=False):
            try:
                while self.turns and count >= self.turns[0][0] * self.faults and not self.weather.failures:
                    work = self.turns.pop(0)[1]
                    try:
                        work()
                        self.done[work.__name__] += 1
                    except Exception as failure:
                        self.weather.failures.append(f"{work.__name__}: {failure!r}")
            finally:
                self.lock.release()

    def finish(self):
        self.reached(self.faults)

    def wait_for_acknowledgements(self, count, seconds):
        """Waits until clients have got so many more, or for a time."""
        count += len(self.ledger.answers)
        with contextlib.suppress(TimeoutError):
            wait_until(lambda: len(self.ledger.answers) >= count, "acknowledgements", seconds)

    def expect_history(self, began):
        """Another history begins by itself: a reader connects, or an event gets its number."""
        before = self.histories[-1][0] if self.histories else 0

        def found():
            rows = self.database.primary.query("SELECT after FROM event_history", "take5")
            return rows and int(rows[0][0]) > before and int(rows[0][0])

        self.histories.append((wait_until(found, "another history begins", 120), began))

    def promote(self):
        """The primary loses its standby, crashes, recovers and dies; the standby becomes the primary, and the machine comes back later."""
        database = self.database
        with self.weather.quiet_databases():
            self.run.report(f"{database.primary.machine.name} is cut off from its standby, crashes, and is fenced")
            self.promoted = time.monotonic()
            heal = self.cut_off()
            # Commits wait for the standby when the server crashes; it recovers them, and clients repeat them.
            time.sleep(1)
            signal_all(database.primary.backends()[:1], signal.SIGKILL)
            wait_until(database.primary.is_ready, "the primary recovers")
            time.sleep(4)
            fenced, _ = self.fail_over(heal)
        self.expect_history(fenced)

    def forget(self):
        """The standby is asynchronous and lags when the primary dies: what was committed meanwhile is forgotten, though clients know it."""
        database = self.database
        with self.weather.quiet_databases():
            self.run.report(f"{database.primary.machine.name} no longer waits for its standby, which lags")
            began = time.monotonic()
            database.primary.ask("ALTER SYSTEM SET synchronous_standby_names TO ''")
            database.primary.ask("SELECT pg_reload_conf()")
            heal = self.cut_off()
            self.wait_for_acknowledgements(FORGOTTEN, LAG)
            fenced, ended = self.fail_over(heal)
            # What is sent later is committed by the new primary, which forgets nothing.
            self.ledger.losses.append((began, ended))
        self.expect_history(fenced)

    def cut_off(self):
        """Cuts the primary off from its standby; returns what heals it."""
        pair = (self.database.primary.machine, self.database.standby.machine)
        return [machine.add_rule("input", f"ip saddr {other.address} drop") for machine, other in (pair, pair[::-1])]

    def fail_over(self, heal):
        """Makes the standby the primary; returns the times between which the former one ended."""
        fenced = time.monotonic()
        self.database.fence()
        ended = time.monotonic()
        for remove in heal:
            remove()
        self.database.promote()
        self.run.report(f"{self.database.primary.machine.name} is the primary, {time.monotonic() - fenced:.1f} s after the other one was fenced")
        return fenced, ended

    def rejoin(self):
        with self.weather.quiet_databases():
            self.ways.append(self.database.rejoin())
        self.run.report(f"{self.database.standby.machine.name} is a synchronous standby again, by {self.ways[-1]}")

    def restore(self):
        """Goes back to a backup as docs/backup.md does it, while clients and readers stay: what was committed after it is forgotten."""
        machine, backup = self.run.network["worker-1"], self.take5.folder / "backup"
        ask = lambda sql: self.database.primary.ask(sql, "take5")
        with self.crowd.held_parts(180), self.weather.quiet():
            wait_until(lambda: ask("SELECT count(*) FROM awaited_upload") == [["0"]], "no post waits for its upload", 120)
            began = time.monotonic()
            self.command(machine, "backup", backup)
            self.run.report("a backup is there")
            self.wait_for_acknowledgements(FORGOTTEN, LAG)
            services = [service for name, service in self.run.services.items() if name.startswith(("api", "worker"))]
            for service in services:
                service.halt()
            ended = time.monotonic()
            self.ledger.losses.append((began, ended))
            self.set_aside()
            self.command(machine, "restore", backup)
            for service in services:
                service.environment.update(self.take5.environment)
                service.resume()
        self.restored = time.monotonic()
        self.run.report("the backup is restored")
        self.expect_history(ended)

    def command(self, machine, *arguments):
        status, output = self.take5.command(machine, *arguments, log=arguments[0])
        if status:
            raise RuntimeError(f"take5 {arguments[0]}: status {status}: {output[-1500:]}")

    def set_aside(self):
        """Moves the data folders away, and takes an empty database, and another place in the bucket."""
        folders = {self.take5.data(self.run.network[name]) for name in ("api-1", "api-2", "worker-1", "worker-2")}
        for folder in folders:
            folder.rename(folder.with_name(f"{folder.name}-former"))
            folder.mkdir(mode=0o700)
        primary = self.database.primary
        primary.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'take5'")
        primary.ask("ALTER DATABASE take5 RENAME TO former")
        primary.ask("CREATE DATABASE take5 OWNER take5")
        if self.take5.has_bucket:
            self.take5.environment["TAKE5_BLOBS"] = self.take5.environment["TAKE5_BLOBS"].replace("/store?", "/restored?")
