"""Small reads: requests a second of the service, against transactions a second of pgbench with the same statements."""

import contextlib
import pathlib
import re
import subprocess
import time

from content import Moment
from processes import Service
from report import Figure
from uploading import Client

CLIENTS = 8
SECONDS = 6


def pgbench():
    """Returns the path of pgbench of the newest PostgreSQL, the one that the service starts."""
    programs = pathlib.Path("/usr/lib/postgresql").glob("*/bin/pgbench")
    return max(programs, key=lambda path: int(path.parts[-3]))


class Statements:
    """What the service sends to the database for one request, as the server logs it."""

    LINE = re.compile(r"^\S+ \S+ \S+ \[(\d+)\] (LOG|DETAIL):  (.*)$")
    PARAMETER = re.compile(r"\$(\d+) = (NULL|'(?:[^']|'')*')")

    def __init__(self, service, request):
        # The service starts its server with a terse log. A setting of the database is stronger, in new sessions.
        service.sql("ALTER SYSTEM SET log_statement = 'all'", "SELECT pg_reload_conf()",
                    "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET log_error_verbosity = ''default''', current_database()); END $$",
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
        # Sessions read their settings between two transactions; the first one that is logged may be in the middle of one.
        time.sleep(1)
        log = service.data / "postgres.log"
        start = log.stat().st_size
        request()
        request()
        service.sql("ALTER SYSTEM RESET log_statement", "SELECT pg_reload_conf()")
        with log.open() as file:
            file.seek(start)
            self.statements = self._last_transaction(file)

    def _last_transaction(self, lines):
        """Returns the statements of the last transaction that reads a post, each with its parameters."""
        sessions, found, last = {}, None, None
        for line in lines:
            match = self.LINE.match(line)
            if match is None:
                if last is not None:
                    last[0] += "\n" + line.strip()
                continue
            process, kind, text = match.groups()
            session = sessions.setdefault(process, [])
            if kind == "DETAIL":
                if session and text.startswith("parameters: "):
                    session[-1][1] = {number: value for number, value in self.PARAMETER.findall(text)}
                last = None
                continue
            name, _, statement = text.partition(": ")
            last = [statement, {}]
            if statement.startswith("BEGIN"):
                session.clear()
            session.append(last)
            if re.match(r"execute (store\.post|posts\.any_post) ", name):
                found = session
        if found is None:
            raise SystemExit("the log of PostgreSQL has no statement of a post")
        return [list(statement) for statement in found]

    def script(self):
        """Returns a script of pgbench and its variables. NULL, which no variable can be, stands in the text."""
        lines, variables = [], {}
        for text, parameters in self.statements:
            text = " ".join(line for line in text.split("\n") if not line.startswith("--"))
            def variable(match):
                value = parameters[match[1]]
                if value == "NULL":
                    return value
                name = f"p{len(variables)}"
                variables[name] = value[1:-1].replace("''", "'")
                return f":{name}"
            lines.append(re.sub(r"\$(\d+)", variable, text) + ";")
        return "\n".join(lines) + "\n", variables


class Read:
    """GET of one post, by both."""

    def __init__(self, service, folder, path):
        self._service, self._path, self._program = service, path, pgbench()
        client = Client(service.address)
        statements = Statements(service, lambda: client.expect(200, "GET", path, {}))
        self.count = len(statements.statements)
        script, self._variables = statements.script()
        self._script = folder / f"{path.rsplit('/', 1)[1]}.sql"
        self._script.write_text(script)

    def requests(self):
        """Returns the requests a second, and the CPU milliseconds of the service and of PostgreSQL for each."""
        before = self._service.cpu()
        output = subprocess.run(
            ["wrk", "--threads", "1", "--connections", str(CLIENTS), "--duration", f"{SECONDS}s", "--timeout", "30s",
             f"http://127.0.0.1:{self._service.port}{self._path}"], check=True, stdout=subprocess.PIPE, text=True).stdout
        after = self._service.cpu()
        assert "Non-2xx" not in output and "Socket errors" not in output, output
        count = int(re.search(r"(\d+) requests in", output)[1])
        return [float(re.search(r"Requests/sec: +([\d.]+)", output)[1])] + [
            1000 * (end - start) / count for start, end in zip(before, after)]

    def transactions(self):
        """Returns the transactions a second of pgbench."""
        variables = [f"--define={name}={value}" for name, value in self._variables.items()]
        output = self._service.database(
            self._program, "--no-vacuum", "--protocol=prepared", f"--client={CLIENTS}", "--jobs=1", f"--time={SECONDS}",
            f"--file={self._script}", *variables)
        assert "number of failed transactions: 0" in output, output
        return float(re.search(r"tps = ([\d.]+)", output)[1])

    def compare(self, name, meaning, runs, **goal):
        ours, theirs = [], []
        for run in range(runs + 1):
            pair = [None, None]
            for side in ([0, 1] if run % 2 else [1, 0]):
                pair[side] = self.transactions() if side else self.requests()
            if run:
                ours.append(pair[0])
                theirs.append(pair[1])
        return Figure(
            name, f"{meaning}; {self.count} statements", [mine[0] / other for mine, other in zip(ours, theirs)], **goal, details=[
                ("take5, requests/s", [mine[0] for mine in ours], 0), ("pgbench, transactions/s", theirs, 0),
                ("CPU of take5 for a request, ms", [mine[1] for mine in ours], 3),
                ("of PostgreSQL, ms", [mine[2] for mine in ours], 3)])


def moment(program, folder):
    """Submits a moment to a service with a worker; returns the path of the post once it is ready."""
    service = Service(program, folder, slots=1)
    try:
        form = Moment()
        client = Client(service.address)
        path = client.expect(202, "POST", "/v1/posts", {**form.headers, "Prefer": "wait=0"}, form.new("ada").bytes())["location"]
        while True:
            body = subprocess.run(
                ["curl", "--silent", "--fail", f"http://127.0.0.1:{service.port}{path}"], check=True, stdout=subprocess.PIPE).stdout
            if b'"status":"ready"' in body:
                return path
            time.sleep(0.5)
    finally:
        service.stop()


def measure(report, program, folder, runs):
    """Measures a moment with its outputs and its job, and a post of text."""
    path = moment(program, folder)
    with contextlib.ExitStack() as stack:
        service = Service(program, folder)
        stack.callback(service.stop)
        client = Client(service.address)
        text = client.expect(
            201, "POST", "/v1/posts", {"Content-Type": "application/json"},
            b'{"kind": "photo", "author": "ada", "caption": "The lake at dusk"}')["location"]
        report.add(Read(service, folder, path).compare(
            "http.read.moment", "GET of a moment with its outputs", runs, at_least=0.5))
        report.add(Read(service, folder, text).compare("http.read.text", "GET of a post of text", runs, at_least=0.5))
