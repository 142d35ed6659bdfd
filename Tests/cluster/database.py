"""PostgreSQL on two machines: a primary, and a standby without which no commit is acknowledged.

What protects against two primaries: the standby is promoted only after the machine of the former primary is fenced, which is the
operator's task. Synchronous replication helps where that fails: a primary that is cut off from its standby acknowledges no commit."""

import os
import pathlib
import pwd
import shutil
import signal
import subprocess

from machines import NETWORK, run, signal_all, wait_until
from processes import Service

PROGRAMS = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), default=None)
SETTINGS = {
    "hot_standby": "on", "max_connections": "100", "wal_keep_size": "4GB", "max_wal_senders": "10",
    # `on` waits until the standby has the commit on its disk. remote_apply would wait until queries there see it: none is sent there.
    "synchronous_commit": "on",
    # Cuts are found within seconds; the defaults take a minute.
    "wal_sender_timeout": "5s", "wal_receiver_timeout": "5s", "wal_receiver_status_interval": "1s",
    "tcp_keepalives_idle": "5", "tcp_keepalives_interval": "2", "tcp_keepalives_count": "3", "tcp_user_timeout": "10s",
    "wal_retrieve_retry_interval": "500ms",
}


def as_postgres(*arguments):
    return ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups", "--", *arguments]


class Server:
    """PostgreSQL on one machine."""

    def __init__(self, machine, folder, logs, clock):
        self.clock = clock
        self.machine, self.data, self.sockets = machine, folder / machine.name, folder / f"{machine.name}-socket"
        self.logs, self.service = logs, None
        self.sockets.mkdir()
        shutil.chown(self.sockets, "postgres", "postgres")

    def tool(self, name, *arguments):
        return self.machine.run(*as_postgres(PROGRAMS / name, *arguments), cwd="/")

    def start(self, other):
        """Starts the server, as a standby of the other one if the file standby.signal is there."""
        settings = {
            "listen_addresses": self.machine.address, "unix_socket_directories": str(self.sockets),
            "primary_conninfo": f"host={other.machine.address} user=postgres application_name={self.machine.name.replace('-', '_')}"
                                " connect_timeout=3 keepalives_idle=5 keepalives_interval=2 keepalives_count=3"}
        options = [option for name, value in settings.items() for option in ("-c", f"{name}={value}")]
        if self.service:
            self.service.resume()
        else:
            self.service = Service(
                self.machine.name, self.machine, self.logs, as_postgres(
                    "env", *(f"{name}={value}" for name, value in self.clock.environment.items()), PROGRAMS / "postgres", "-D", self.data, *options))
        wait_until(self.is_ready, f"{self.machine.name}: PostgreSQL starts")

    def is_ready(self):
        return self.query("SELECT 1") == [["1"]]

    def query(self, sql, database="postgres", user="postgres", timeout=20):
        """Returns rows of texts; nothing if the server does not answer. The socket is a file, which no fault of the network affects."""
        try:
            done = subprocess.run(
                [PROGRAMS / "psql", "-h", self.sockets, "-U", user, "-d", database, "-XAtq", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-c", sql],
                capture_output=True, text=True, timeout=timeout, env={**os.environ, "PGCONNECT_TIMEOUT": "5"})
        except subprocess.TimeoutExpired:
            return None
        self.error = done.stderr.strip()
        return None if done.returncode else [line.split("\t") for line in done.stdout.splitlines()]

    def ask(self, sql, database="postgres", seconds=60):
        """As `query`, and waits until the server answers."""
        answer = []
        def is_answered():
            rows = self.query(sql, database)
            answer[:] = rows or []
            return rows is not None
        try:
            wait_until(is_answered, sql, seconds)
        except TimeoutError as failure:
            raise TimeoutError(f"{failure}: {self.error}") from None
        return answer

    def processes(self):
        return self.service.processes()

    def backends(self):
        """The processes of the server but the first one."""
        return [pid for pid in self.processes() if pid != self.service.process.pid]


class Database:
    def __init__(self, first, second):
        self.primary, self.standby = first, second
        self.url = f"postgresql://take5@{first.machine.address},{second.machine.address}/take5?target_session_attrs=read-write"

    def create(self):
        primary, standby = self.primary, self.standby
        for server in (primary, standby):
            server.data.mkdir(mode=0o700)
            shutil.chown(server.data, "postgres", "postgres")
        # pg_rewind needs checksums, or wal_log_hints.
        primary.tool("initdb", "-D", primary.data, "--auth=trust", "--data-checksums", "--encoding=UTF8", "--locale=C.UTF-8", "--username=postgres")
        with (primary.data / "pg_hba.conf").open("a") as rules:
            rules.write(f"host all all {NETWORK}0/24 trust\nhost replication all {NETWORK}0/24 trust\n")
        # In the file and not on the command line: pg_rewind starts the server too, which must keep what pg_rewind reads afterwards.
        with (primary.data / "postgresql.conf").open("a") as settings:
            settings.writelines(f"{name} = '{value}'\n" for name, value in SETTINGS.items())
        primary.start(standby)
        primary.ask("CREATE ROLE take5 LOGIN")
        primary.ask("CREATE DATABASE take5 OWNER take5")
        self.copy_primary(standby)
        standby.start(primary)
        self.synchronize()

    def copy_primary(self, server):
        server.tool("pg_basebackup", "-h", self.primary.machine.address, "-U", "postgres", "-D", server.data, "--checkpoint=fast", "-X", "stream")
        self.mark_standby(server)

    def mark_standby(self, server):
        (server.data / "standby.signal").touch()
        shutil.chown(server.data / "standby.signal", "postgres", "postgres")

    def synchronize(self):
        """Waits until the standby streams. From then on no commit is acknowledged without it."""
        state = "SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'"
        wait_until(lambda: self.primary.query(state), "the standby streams", 120)
        self.primary.ask("ALTER SYSTEM SET synchronous_standby_names TO '*'")
        self.primary.ask("SELECT pg_reload_conf()")
        wait_until(lambda: self.primary.query(state) in ([["sync"]], [["quorum"]]), "the standby is synchronous", 120)

    def fence(self):
        """The operator's part: the machine of the primary neither computes nor sends from now on."""
        self.primary.service.end()
        self.unfence = [self.primary.machine.add_rule(chain, f'{device} "eth0" drop') for chain, device in (("input", "iifname"), ("output", "oifname"))]

    def promote(self):
        """Makes the standby the primary, which then acknowledges alone: until the other machine is back, its disk is the only one."""
        promoted = self.standby
        promoted.ask("ALTER SYSTEM SET synchronous_standby_names TO ''")
        promoted.ask("SELECT pg_reload_conf()")
        promoted.tool("pg_ctl", "promote", "-D", promoted.data, "--wait", "--timeout=60")
        wait_until(lambda: promoted.query("SELECT pg_is_in_recovery()") == [["f"]], "the standby is promoted")
        # Before a checkpoint its control file has the timeline of the former primary, and pg_rewind sees nothing to do.
        promoted.ask("CHECKPOINT")
        self.primary, self.standby = promoted, self.primary

    def rejoin(self):
        """Makes the former primary a standby; returns how. What it alone has committed, and has not acknowledged, is undone."""
        former, how = self.standby, "pg_rewind"
        for remove in self.unfence:
            remove()
        source = f"host={self.primary.machine.address} user=postgres dbname=postgres"
        try:
            (former.logs / "pg_rewind.log").write_text(
                former.tool("pg_rewind", f"--target-pgdata={former.data}", f"--source-server={source}"))
            self.mark_standby(former)
        except RuntimeError as failure:
            (former.logs / "pg_rewind.log").write_text(str(failure))
            how = "pg_basebackup"
            shutil.rmtree(former.data)
            former.data.mkdir(mode=0o700)
            shutil.chown(former.data, "postgres", "postgres")
            self.copy_primary(former)
        former.start(self.primary)
        self.synchronize()
        return how
