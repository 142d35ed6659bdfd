"""Comments, likes and requests for friendship, while workers, the service, its database, the endpoint of a webhook and a test APNs break:

storm.py PATH-OF-take5 [--faults N] [--seed N]

In the end the endpoint, which deduplicates by the ids of messages, has each event once, and the events about one thing in their order."""
import argparse
import collections
import http.server
import itertools
import json
import os
import pathlib
import random
import signal
import socket
import struct
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Support" / "processes"))

from take5 import Program, Service  # noqa: E402

TIMEOUT = 900
USERS = [f"user{number}" for number in range(12)]
CLIENTS = 4
KINDS = ["comment", "thread_comment", "like", "friend_request", "friend_accepted", "friend_posted"]
# Of so many faults, one is that of a process; the others are those of the endpoint.
KILLS = 3


class Endpoint(http.server.ThreadingHTTPServer):
    """The endpoint of a webhook, which breaks requests while faults remain, each message once at most: the second pause of the schedule is
    five minutes."""
    daemon_threads = True

    def handle_error(self, *_):
        """Its clients are killed."""
    request_queue_size = 128

    def __init__(self, chance):
        super().__init__(("127.0.0.1", 0), Request)
        self.chance, self.guard = chance, threading.Lock()
        self.remaining, self.done = 0, collections.Counter()
        self.broken, self.accepted, self.messages = set(), [], {}

    def fault(self, message):
        with self.guard:
            if not self.remaining or message in self.broken or self.chance.random() > 0.03:
                return None
            kind = self.chance.choice(["later", "error", "reset", "lost response"])
            self.broken.add(message)
            self.remaining -= 1
            self.done[f"endpoint: {kind}"] += 1
            return kind

    def accept(self, message, body):
        with self.guard:
            if message not in self.messages:
                self.messages[message] = body
                self.accepted.append(message)


class Request(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = self.headers["webhook-id"]
        fault = self.server.fault(message)
        if fault in (None, "lost response"):
            self.server.accept(message, body)
        if fault in ("reset", "lost response"):
            self.close_connection = True
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return self.connection.close()
        self.send_response({"later": 503, "error": 500}.get(fault, 204))
        if fault == "later":
            self.send_header("Retry-After", "1")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass

    def finish(self):
        try:
            super().finish()
        except (OSError, ValueError):
            pass


def kill_database(folder):
    """Returns 1 if the server of PostgreSQL was killed, 0 if there is none at the moment."""
    for owner in folder.glob("**/postmaster.pid"):
        try:
            os.kill(int(owner.read_text().split("\n")[0]), signal.SIGKILL)
            return 1
        except (FileNotFoundError, ProcessLookupError, ValueError):
            pass
    return 0


class Client:
    def __init__(self, url):
        self.url = url

    def send(self, method, path, body=None, user=None):
        """Sends a request until it has a response that is not worth another attempt."""
        headers = {"Content-Type": "application/json"} | ({"Take5-User": user} if user else {})
        while True:
            request = urllib.request.Request(
                self.url + path, json.dumps(body).encode() if body is not None else None, headers, method=method)
            try:
                with urllib.request.urlopen(request, timeout=30) as response:
                    text = response.read()
                    return json.loads(text) if text else None
            except urllib.error.HTTPError as error:
                text = error.read()
                assert error.code in (408, 409, 429, 503), f"{method} {path}: {error.code} {text}"
            except (OSError, ValueError):
                pass
            time.sleep(0.2)

    def events(self):
        """The events of all users in their order, up to the present."""
        request = urllib.request.Request(self.url + "/v1/events", headers={"Last-Event-ID": "0-0"})
        events = []
        with urllib.request.urlopen(request, timeout=8) as stream:
            try:
                for line in stream:
                    if line.startswith(b"data: ") and b'"kind"' in line:
                        events.append(json.loads(line[6:]))
            except TimeoutError:
                pass
        return events


def subject(event):
    """What an event is about: the events about one thing arrive in their order."""
    return event.get("post") or event.get("comment") or event.get("image") or event.get("collection") or event["receiver"]


def run(options, folder):
    chance, take5 = random.Random(options.seed), options.take5.resolve()
    endpoint = Endpoint(chance)
    threading.Thread(target=endpoint.serve_forever, daemon=True).start()
    folder.chmod(0o755)
    permit = ["--webhook-permit", "127.0.0.1"]
    service = Service(take5, folder, "--slots", "0", *permit)
    workers = [
        Program(
            [take5, "worker", "--data", service.data, "--lease", "3", "--slots", "1", *permit], folder / f"worker{number}.log")
        for number in range(2)]
    client = Client(service.url)
    created = client.send("POST", "/v1/webhooks", {"url": f"http://127.0.0.1:{endpoint.server_port}/hook", "kinds": KINDS})
    assert created, created
    posts = [client.send("POST", "/v1/posts", {"kind": "marker", "title": "Here", "author": user})["id"] for user in USERS]
    is_over, counts = threading.Event(), itertools.count()

    def load(seed):
        chance = random.Random(seed)
        while not is_over.is_set():
            user, post, other = chance.choice(USERS), chance.choice(posts), chance.choice(USERS)
            action = chance.random()
            if action < 0.6:
                client.send("POST", f"/v1/posts/{post}/comments", {"author": user, "text": f"comment {next(counts)}"})
            elif action < 0.9:
                client.send(chance.choice(["PUT", "DELETE"]), f"/v1/users/{user}/likes/{post}")
            elif user != other:
                client.send(chance.choice(["PUT", "DELETE"]), f"/v1/users/{user}/friends/{other}")
            time.sleep(0.05)

    threads = [threading.Thread(target=load, args=(options.seed + number,)) for number in range(CLIENTS)]
    kills_wanted = options.faults // KILLS
    endpoint.remaining = of_endpoint = options.faults - kills_wanted
    kills = collections.Counter()
    for thread in threads:
        thread.start()
    end = time.monotonic() + TIMEOUT
    while endpoint.remaining or kills.total() < kills_wanted:
        if time.monotonic() > end:
            sys.exit(f"only {endpoint.done} and {kills} within {TIMEOUT} s")
        if kills.total() < kills_wanted and endpoint.done.total() / of_endpoint >= kills.total() / kills_wanted:
            victim = chance.random()
            if victim < 0.6:
                chance.choice(workers).restart()
                kills["kills of a worker"] += 1
            elif victim < 0.8:
                service.restart()
                kills["kills of the service"] += 1
            else:
                kills["kills of the database"] += kill_database(folder)
        time.sleep(0.05)
    is_over.set()
    for thread in threads:
        thread.join()
    end, events = time.monotonic() + TIMEOUT, []
    while not events or len(endpoint.accepted) < len(events):
        assert time.monotonic() < end, f"{len(endpoint.accepted)} of {len(events)} events within {TIMEOUT} s"
        events = client.events()
        time.sleep(0.5)
    check(events, endpoint)
    for program in [*workers, service]:
        program.stop()
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted((endpoint.done + kills).items()))
    return f"{endpoint.done.total() + kills.total()} faults ({kinds}), {len(events)} events"


def check(events, endpoint):
    def text(event):
        return json.dumps(event, sort_keys=True)

    received = [endpoint.messages[message]["data"] for message in endpoint.accepted]
    sent, got = collections.Counter(map(text, events)), collections.Counter(map(text, received))
    assert sent == got, f"lost: {list((sent - got).items())[:5]}, more: {list((got - sent).items())[:5]}"
    order = {}
    for event in events:
        order.setdefault(subject(event), []).append(text(event))
    for thing, expected in order.items():
        found = [text(event) for event in received if subject(event) == thing]
        assert found == expected, f"of {thing} the order is another one"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("take5", type=pathlib.Path)
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="take5-storm-", ignore_cleanup_errors=True) as folder:
        print(f"{run(options, pathlib.Path(folder))}; each is there once, in the order of its subject")


if __name__ == "__main__":
    main()
