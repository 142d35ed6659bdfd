"""The programs that are watched, and the one that watches: PostgreSQL, the service, workers and Prometheus."""

import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "Tests" / "clients"))
sys.path.append(str(ROOT / "Tests" / "Support" / "processes"))

from service import clip  # noqa: E402
from take5 import TIMEOUT, Program, free_ports, wait_until  # noqa: E402

KEY = "test-metrics-key"
RULES = ROOT / "Sources" / "Packaging" / "prometheus" / "take5.rules.yml"


class Postgres:
    """A server of PostgreSQL in a folder of its own, which can be stopped."""

    def __init__(self, folder):
        self.folder = folder / "postgres"
        self.programs = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
        [self.port] = free_ports(1)
        self.url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"
        self.folder.mkdir()
        if os.getuid() == 0:
            subprocess.run(["chown", "postgres", self.folder], check=True)
        self.run("initdb", "--auth", "trust", "--username", "postgres", "--no-sync", "--encoding", "UTF8")
        self.start()

    def run(self, program, *arguments):
        command = [self.programs / program, "--pgdata", self.folder, *arguments]
        as_user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        subprocess.run([*as_user, *command], check=True, stdout=subprocess.DEVNULL, cwd="/")

    def start(self):
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
        self.run("pg_ctl", "--wait", "--log", self.folder / "log", "--options", options, "start")

    def stop(self):
        self.run("pg_ctl", "--wait", "--mode", "immediate", "stop")

    def query(self, sql):
        """The rows of a statement, each as its text."""
        reply = subprocess.run(
            ["psql", "--no-psqlrc", "--tuples-only", "--no-align", "--command", sql, self.url], check=True,
            capture_output=True, text=True)
        return reply.stdout.split()

    def session(self, sql):
        """A session that has run statements and stays open."""
        session = subprocess.Popen(
            ["psql", "--no-psqlrc", "--tuples-only", "--no-align", self.url], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        session.stdin.write(f"{sql};\nSELECT 'done';\n")
        session.stdin.flush()
        while session.stdout.readline().strip() != "done":
            pass
        return session


class Take5(Program):
    """A process of take5, which can be stopped and started again with other options on the same port."""

    def __init__(self, program, command, folder, port, options, environment=None):
        self.port, self.url = port, f"http://127.0.0.1:{port}"
        address = {"serve": "--listen", "worker": "--metrics"}[command]
        data = folder / f"data-{port}"
        data.mkdir(exist_ok=True)
        super().__init__(
            [program, command, address, f"127.0.0.1:{port}", "--data", data, *options], folder / f"{command}-{port}.log",
            {"TAKE5_API_KEY": KEY, **(environment or {})})

    def start(self, *options):
        super().start(*options)
        wait_until(self.responds, f"a response of {self.url}, see {self.log}")

    def responds(self):
        assert not self.has_ended(), f"a program has ended: {self.log}"
        try:
            return self.get("/metrics")[0] == 200
        except OSError:
            return False

    def restart(self, *options):
        self.stop()
        self.start(*options)

    def get(self, path, **headers):
        """The status and the body of the response."""
        return self.send(urllib.request.Request(self.url + path, headers=headers))

    def send(self, request):
        request.add_header("Authorization", f"Bearer {KEY}")
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return response.status, response.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def submit(self, name, expected=202, **headers):
        """Submits a moment whose bytes and author follow from the name, and returns its id if it has one."""
        parts = b""
        for camera in ["front", "back"]:
            parts += (
                f'--part\r\nContent-Disposition: form-data; name="{camera}"; filename="{camera}.mp4"\r\n\r\n').encode()
            parts += moment(name)[camera] + b"\r\n"
        for field, value in [("kind", "take5"), ("author", name)]:
            parts += f'--part\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'.encode()
        headers = {"Content-Type": "multipart/form-data; boundary=part", **headers}
        status, body = self.send(
            urllib.request.Request(f"{self.url}/v1/posts", parts + b"--part--\r\n", headers, method="POST"))
        assert status == expected, (status, body)
        return json.loads(body).get("id")

    def wait_for(self, post, status="ready"):
        def has_status():
            code, body = self.get(f"/v1/posts/{post}")
            return code == 200 and json.loads(body)["status"] == status

        wait_until(has_status, f"the post {post} to be {status}")


def moment(name):
    """The clips of a moment that is the same for a name in every run."""
    return {camera: clip(name, (ROOT / "samples" / f"{camera}.mp4").stat().st_size + 4096, camera)
            for camera in ["front", "back"]}


class Prometheus:
    """Prometheus with the rules of the package. `for:` is shortened to three seconds, thresholds and ranges are not."""

    INTERVAL = 3

    def __init__(self, folder, targets):
        [self.port] = free_ports(1)
        rules, count = re.subn(r"for: \d+[smhd]", "for: 3s", RULES.read_text())
        assert count > 0
        (folder / "rules.yml").write_text(rules)
        listed = ", ".join(f'"127.0.0.1:{target.port}"' for target in targets)
        (folder / "prometheus.yml").write_text(f"""
global: {{scrape_interval: {self.INTERVAL}s, scrape_timeout: {self.INTERVAL}s, evaluation_interval: 1s}}
rule_files: ["{folder}/rules.yml"]
scrape_configs:
  - job_name: take5
    authorization: {{credentials: {KEY}}}
    static_configs: [{{targets: [{listed}]}}]
""")
        subprocess.run(["promtool", "check", "config", folder / "prometheus.yml"], check=True, stdout=subprocess.DEVNULL)
        self.log = (folder / "prometheus.log").open("ab")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/series",
             f"--web.listen-address=127.0.0.1:{self.port}"], stderr=self.log)
        wait_until(self.is_ready, "Prometheus to start")

    def is_ready(self):
        try:
            return len(self.query("up")) > 0
        except OSError:
            return False

    def read(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{path}", timeout=10) as response:
            return json.load(response)["data"]

    def query(self, expression):
        return self.read("query?query=" + urllib.parse.quote(expression))["result"]

    def alerts(self, *states):
        """The names of the alerts in these states, or in any."""
        return {alert["labels"]["alertname"] for alert in self.read("alerts")["alerts"]
                if not states or alert["state"] in states}

    def names(self):
        """The names of all metrics that were ever scraped."""
        return set(self.read("label/__name__/values"))

    def wait_for(self, *alerts, timeout=TIMEOUT):
        """Waits until each of these alerts fires, if also for a moment."""
        missing = set(alerts)

        def fires():
            missing.difference_update(self.alerts("firing"))
            return not missing

        try:
            wait_until(fires, "", timeout)
        except AssertionError:
            raise AssertionError(f"not within {timeout} s: {', '.join(sorted(missing))}") from None

    def wait_for_end(self, *alerts):
        """Waits until none of these alerts fires."""
        wait_until(lambda: not self.alerts() & set(alerts), f"the end of {', '.join(alerts)}")

    def stop(self):
        self.process.terminate()
        self.process.wait()
