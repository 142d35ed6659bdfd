"""The programs on the machines: the store, the APIs, the workers, and nginx in front."""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import threading
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "s3"))
from clocks import Clock
from machines import descendants, parent, wait_until
from processes import Service

KEY = "test-cluster-key"
STORE = pathlib.Path(__file__).resolve().parents[1] / "s3" / "store.sh"
# Leases that faults exceed.
LEASE = 8
# What nothing refers to stays for longer than a standby lags here, and goes within the run.
RELEASED_PAUSE = 75
# The longest time of a command, such as a check of all files, in seconds.
COMMAND = 1800


def start_store(machine, folder, logs):
    """Starts the store on its machine; returns it and the environment of programs that use it."""
    ready = folder / "store.env"
    (folder / "store").mkdir()
    service = Service("store", machine, logs, [STORE, "sh", "-c", f'env >{ready}.new && mv {ready}.new {ready} && exec sleep infinity'],
                      {"TAKE5_TEST_S3_ADDRESS": machine.address, "TMPDIR": str(folder / "store")})
    service.is_wanted = False
    wait_until(lambda: ready.exists() or service.process.poll() is not None, "the store starts", 120)
    if not ready.exists():
        raise RuntimeError(f"the store does not start: {service.log}")
    threading.Thread(target=supervise_store, args=(machine, service), daemon=True).start()
    values = dict(line.split("=", 1) for line in ready.read_text().splitlines() if "=" in line)
    keys = {name: values[name] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")}
    return service, {**keys, "TAKE5_BLOBS": values["TAKE5_TEST_S3"]}


def supervise_store(machine, service):
    """Starts the servers of the store again when they end, as the units of their packages do."""
    servers = {pid: pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]
               for pid, name in descendants(service.process.pid).items() if name.startswith(("swift-", "memcached")) and parent(pid) == service.process.pid}
    while True:
        time.sleep(1)
        # What is started after the end would stay.
        if Service.is_over:
            return
        for pid in [pid for pid in servers if parent(pid) is None]:
            arguments = servers.pop(pid)
            with service.log.open("ab") as log:
                log.write(f"started again: {' '.join(arguments)}\n".encode())
                log.flush()
                servers[subprocess.Popen(machine.inside(*arguments), stdout=log, stderr=log, start_new_session=True).pid] = arguments


class Take5:
    """The programs of take5 on their machines."""

    def __init__(self, program, folder, logs, environment):
        self.folder, self.logs = folder, logs
        # A copy, which a build does not replace in the middle of the run.
        (folder / "bin").mkdir()
        self.program, _ = (pathlib.Path(shutil.copy(program.with_name(name), folder / "bin")) for name in ("take5", "take5-media"))
        # Of each machine, its own.
        self.clocks = {}
        self.clock_library = program
        self.environment = {
            **environment, "TAKE5_API_KEY": KEY, "TAKE5_LEASE": str(LEASE), "TAKE5_RELEASED_PAUSE": str(RELEASED_PAUSE), "TAKE5_LOG_FORMAT": "json"}

    @property
    def has_bucket(self):
        return "TAKE5_BLOBS" in self.environment

    def data(self, machine):
        """The data folder of a machine; without a bucket all of them share one, as a file system of the network."""
        return self.folder / (machine.name if self.has_bucket else "data")

    def serve(self, machine, proxy):
        return self.start(machine, "serve", "--listen", f"{machine.address}:8080", "--slots", "0", "--background-slots", "0",
                          "--trusted-proxy", proxy.address)

    def work(self, machine):
        return self.start(machine, "worker", "--slots", "1")

    def start(self, machine, command, *options):
        data = self.data(machine)
        data.mkdir(exist_ok=True)
        clock = self.clocks[machine.name] = Clock(self.folder / f"{machine.name}-clock", self.clock_library)
        return Service(
            machine.name, machine, self.logs, [self.program, command, "--data", data, *options],
            {**self.environment, **clock.environment})

    def command(self, machine, *arguments, log):
        """Runs a command on a machine to its end; returns its exit status and its output."""
        path = self.logs / f"{log}.log"
        with path.open("w") as output:
            status = subprocess.run(
                machine.inside(self.program, *arguments, "--data", self.data(machine)), stdout=output, stderr=subprocess.STDOUT,
                env={**os.environ, **self.environment}, timeout=COMMAND).returncode
        return status, path.read_text()


NGINX = """
daemon off; user root; pid {folder}/nginx.pid; error_log {folder}/error.log warn; worker_processes 2;
events {{ worker_connections 512; }}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  {upstreams}
  server {{
    listen {address}:80;
    {location}
  }}
}}
"""


def proxy_configuration(folder, address, first, second):
    """The configuration of docs/deploying.md, with the lines of its section about several machines."""
    text = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "deploying.md").read_text()
    server, upstreams = re.findall(r"^```nginx\n(.*?)^```$", text, re.M | re.S)
    location = re.search(r"^  location / {\n.*?^  }$", server, re.M | re.S)[0]
    assert "proxy_pass http://127.0.0.1:8080;" in location
    location = location.replace("http://127.0.0.1:8080;", "http://$api;\n    proxy_connect_timeout 2s;")
    upstreams = upstreams.replace("10.0.0.1:", f"{first}:").replace("10.0.0.2:", f"{second}:")
    return NGINX.format(folder=folder, address=address, upstreams=upstreams, location=location)


def start_proxy(program, machine, apis, folder, logs):
    folder = folder / "nginx"
    folder.mkdir()
    (folder / "nginx.conf").write_text(proxy_configuration(folder, machine.address, *(api.address for api in apis)))
    return Service("proxy", machine, logs, [program, "-c", folder / "nginx.conf", "-p", folder])


def listens(machine, port):
    """Whether a program answers on a port of a machine; called by a thread on the network."""
    try:
        socket.create_connection((machine.address, port), timeout=2).close()
        return True
    except OSError:
        return False
