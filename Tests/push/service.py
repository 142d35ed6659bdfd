"""service.py TAKE5: a service sends notifications to providers that check them by libraries of others (provider.py)."""
import base64
import collections
import concurrent.futures
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "Support" / "processes"))

import figures  # noqa: E402
import take5  # noqa: E402
from keys import Setup  # noqa: E402
from take5 import SAMPLES, free_ports, wait_until  # noqa: E402

TAKE5 = Path(sys.argv[1]).resolve()
HERE = Path(__file__).parent
KEY = "t5-operator-" + "0" * 32


class Provider:
    def __init__(self, folder):
        self.folder = folder
        self.process = subprocess.Popen([sys.executable, HERE / "provider.py", folder], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().split()[0])

    def log(self):
        return [json.loads(line) for line in (self.folder / f"{self.port}.log").read_text().splitlines()]


class Service(take5.Service):
    def __init__(self, setup, provider, folder, *options):
        (folder / "key").write_text(KEY)
        [port] = free_ports(1)
        super().__init__(
            TAKE5, folder, "--config", "/dev/null", "--api-key-file", folder / "key", "--apns", setup.folder / "apns.json",
            "--fcm", setup.folder / "fcm.json", "--web-push", setup.folder / "vapid.json", "--push-server",
            f"https://localhost:{provider.port}", "--push-certificates", setup.folder / "ca.pem", "--public-url",
            f"http://127.0.0.1:{port}", "--min-free", "0", *options, port=port)

    def send(self, method, path, body=None, credential=KEY, status=None):
        request = urllib.request.Request(
            self.url + path, None if body is None else json.dumps(body).encode(), method=method,
            headers={"Authorization": f"Bearer {credential}", "Content-Type": "application/json"})
        try:
            response = urllib.request.urlopen(request, timeout=60)
        except urllib.error.HTTPError as error:
            response = error
        text = response.read()
        assert (response.status == status) if status else response.status < 300, (method, path, response.status, text)
        return json.loads(text) if text else None

    def sign_in(self, user):
        return self.send("POST", f"/v1/users/{user}/tokens", {})["token"]


def journey(setup, provider, service, folder):
    """Phones and a browser from the registration to the sign-out."""
    ada, bob, eve = (service.sign_in(user) for user in ("ada", "bob", "eve"))
    browser = setup.subscription(provider.port, "eve")
    apple, android = "0a" * 32, "bobs-phone"
    service.send("PUT", f"/v1/users/ada/devices/{apple}", {"platform": "apns", "locale": "de-AT"}, ada, 201)
    service.send("PUT", f"/v1/users/bob/devices/{android}", {"platform": "fcm"}, bob, 201)
    assert service.send("GET", "/v1/push/vapid-key")["key"] == setup.vapid_public
    keys = {name: browser.device[name] for name in ("p256dh", "auth")}
    service.send("PUT", "/v1/users/eve/devices/laptop",
                 {"platform": "web_push", "subscription": {"endpoint": browser.device["endpoint"], "keys": keys}}, eve, 201)
    for user, friend in (("ada", "bob"), ("bob", "ada"), ("ada", "eve"), ("eve", "ada")):
        service.send("PUT", f"/v1/users/{user}/friends/{friend}")
    service.send("PUT", "/v1/users/ada/blocks/eve", None, ada)

    def shown():
        """The notifications that each device has, by their kinds."""
        found = {"ada": {}, "bob": {}, "eve": {}}
        for entry in provider.log():
            raw = base64.b64decode(entry["body"])
            if entry["provider"] == "apns" and entry["device"] == apple:
                body = json.loads(raw)
                found["ada"][body["kind"]] = body
            elif entry["provider"] == "fcm":
                body = json.loads(raw)["message"]
                found["bob"][body["data"]["kind"]] = body
            elif entry["provider"] == "webpush":
                body = browser.decrypt(raw)
                found["eve"][body["kind"]] = body
        return found

    opening, closing = (time.strftime("%H:%M:%S", time.gmtime(time.time() + seconds)) for seconds in (5, 305))
    service.send("PUT", "/v1/window/schedule", {"schedule": f"{opening}-{closing} UTC"})
    wait_until(lambda: all("window_opened" in kinds for kinds in shown().values()), "the window on each device")
    assert shown()["ada"]["window_opened"]["aps"]["alert"]["body"] == "Du hast 5 Minuten für deinen Moment."
    assert shown()["eve"]["window_opened"]["title"] == "Time to film"

    submitted = subprocess.run(
        ["curl", "--silent", "--fail-with-body", "--header", f"Authorization: Bearer {ada}", "--form", f"front=@{SAMPLES}/front.mp4;type=video/mp4",
         "--form", f"back=@{SAMPLES}/back.mp4;type=video/mp4", "--form", "kind=take5", "--form", "visibility=friends", f"{service.url}/v1/posts"],
        stdout=subprocess.PIPE, text=True)
    assert submitted.returncode == 0, submitted.stdout
    post = json.loads(submitted.stdout)["id"]
    message = wait_until(lambda: shown()["bob"].get("friend_posted"), "a friend's post", 300)
    assert message["data"]["post"] == post and message["data"]["user"] == "ada", message
    with urllib.request.urlopen(message["notification"]["image"], timeout=60) as picture:
        assert picture.headers["Content-Type"] == "image/jpeg" and picture.read(2) == b"\xff\xd8"
    service.send("POST", f"/v1/posts/{post}/comments", {"text": "Schön!"}, bob)
    comment = wait_until(lambda: shown()["ada"].get("comment"), "the comment")
    assert comment["aps"]["alert"] == {"title": "bob hat kommentiert", "body": "Schön!"}, comment
    assert comment["aps"]["badge"] >= 1

    # A device that the provider misses goes, unless it was registered since; one of a user who signs out gets nothing more.
    service.send("PUT", "/v1/users/kim/devices/4100" + "0" * 60, {"platform": "apns"}, status=201)
    service.send("PUT", "/v1/users/kim/devices/unregistered", {"platform": "fcm"}, status=201)
    service.send("DELETE", "/v1/tokens/current", None, bob)
    assert service.send("GET", "/v1/users/bob/devices")["items"] == []
    before = len([entry for entry in provider.log() if entry["provider"] == "fcm"])
    for user in ("kim", "bob", "ada"):
        service.send("PUT", f"/v1/users/lee/friends/{user}")
    wait_until(lambda: "friend_request" in shown()["ada"], "a request for friendship")
    wait_until(lambda: [(device["platform"], device["last_outcome"])
                        for device in service.send("GET", "/v1/users/kim/devices")["items"]] == [("apns", "gone")], "the end of a device")
    assert len([entry for entry in provider.log() if entry["provider"] == "fcm"]) == before
    assert set(shown()["eve"]) <= {"window_opened", "friend_request", "friend_accepted"}, "nothing across a block"

    log = service.log.read_text()
    secrets = [apple, android, browser.device["endpoint"], browser.device["auth"], ada, bob, eve]
    assert not [secret for secret in secrets if secret in log], "a token is in the log"
    metrics = urllib.request.urlopen(urllib.request.Request(
        service.url + "/metrics", headers={"Authorization": f"Bearer {KEY}"}), timeout=60).read().decode()
    lines = [line for line in metrics.splitlines() if line.startswith("take5_push_total")]
    assert any('"gone"' in line and '"fcm"' in line and line.endswith(" 1") for line in lines), lines
    counts = subprocess.run([TAKE5, "devices", "--config", "/dev/null", "--data", folder / "data", "--json"], stdout=subprocess.PIPE, check=True)
    assert {"provider": "web_push", "outcome": "delivered", "devices": 1} in json.loads(counts.stdout)["counts"], counts.stdout


def kill(setup, provider, service, folder):
    """A service that is killed while it sends loses no device; what was on the wire is sent again, with the same collapse id."""
    devices = [f"{number:064x}" for number in range(1, 4001)]

    def register(number):
        service.send("PUT", f"/v1/users/user-{number}/devices/{devices[number]}", {"platform": "apns"}, status=201)

    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        list(threads.map(register, range(len(devices))))

    def sent():
        found, known = collections.defaultdict(list), set(devices)
        for entry in provider.log():
            if entry["device"] in known:
                found[entry["device"]].append(entry["headers"]["apns-collapse-id"])
        return found

    opening, closing = (time.strftime("%H:%M:%S", time.gmtime(time.time() + seconds)) for seconds in (3, 303))
    service.send("PUT", "/v1/window/schedule", {"schedule": f"{opening}-{closing} UTC"})
    wait_until(lambda: (folder / f"{provider.port}.log").read_text().count("\n") > len(devices) // 4, "some notifications")
    service.kill()
    assert len(sent()) < len(devices), "the service has sent all before it was killed"
    service.start()
    wait_until(lambda: len(sent()) == len(devices), "each device")
    twice = [ids for ids in sent().values() if len(ids) > 1]
    assert all(len(set(ids)) == 1 for ids in twice)
    # Two connections of 500 streams.
    assert len(twice) <= 1000, len(twice)
    print(f"        {len(twice)} of {len(devices)} twice", flush=True)


def insert(folder, values):
    """Inserts devices; one request for each would take minutes: the rows are those that it makes."""
    database = (folder / "data" / "postgres.url").read_text().splitlines()[0]
    subprocess.run(["psql", "--quiet", database, "--command", values], check=True)


def opened(service):
    """Opens the window, and returns when it did, in seconds."""
    number = service.send("GET", "/v1/window")["opened_at"]
    opening, closing = (time.strftime("%H:%M:%S", time.gmtime(time.time() + seconds)) for seconds in (3, 303))
    service.send("PUT", "/v1/window/schedule", {"schedule": f"{opening}-{closing} UTC"})
    at = wait_until(lambda: service.send("GET", "/v1/window")["opened_at"] != number and service.send("GET", "/v1/window")["opened_at"],
                    "the opening")
    return datetime.datetime.fromisoformat(at).timestamp()


def window(provider, service, folder, meanwhile=lambda until: None):
    """Opens the window for the devices of the flood; returns the seconds until the last has it, and what `meanwhile` returns."""
    log = folder / f"{provider.port}.log"
    before, at = log.stat().st_size, opened(service)
    wait_until(lambda: log.stat().st_size > before, "the first notification")
    found = meanwhile(lambda: log.stat().st_mtime < time.time() - 3)
    wait_until(lambda: log.stat().st_mtime < time.time() - 3, "the last notification", 300)
    with log.open() as lines:
        lines.seek(before)
        sent = sum('"device": "f0' in line for line in lines)
    assert sent == figures.COUNT, f"{sent} of {figures.COUNT}"
    return log.stat().st_mtime - at, found


def flood(setup, provider, service, folder):
    """The window reaches 100,000 devices of a service with two cores that it shares with the provider; requests go on meanwhile."""
    count = figures.COUNT
    theirs = figures.h2load(provider.port, setup.apns_authorization(), figures.ROUND_COUNT)
    insert(folder, f"""
        INSERT INTO device (user_id, token, provider, address, shard, seen)
        SELECT 'flood-' || n, address, 'apns', address, n % 2, 0
        FROM (SELECT n, 'f' || lpad(to_hex(n), 63, '0') AS address FROM generate_series(1, {count}) AS n) AS devices""")

    def latency(until):
        """The median time of a post of text, in seconds."""
        times = []
        while len(times) < 20 or not until():
            start = time.monotonic()
            service.send("POST", "/v1/posts", {"kind": "marker", "title": "Here", "author": "lee"})
            times.append(time.monotonic() - start)
            time.sleep(0.05)
        return statistics.median(times)

    alone = latency(lambda: True)
    seconds, meanwhile = window(provider, service, folder, latency)
    print(f"        {count:,} devices {seconds:.1f} s after the opening, {count / seconds / theirs:.2f} of h2load; a post takes "
          f"{meanwhile * 1000:.1f} ms, {meanwhile / alone:.2f} times as long as before", flush=True)
    assert seconds <= figures.SECONDS and count / seconds >= figures.RATIO * theirs


def silent_flood(setup, provider, service, folder):
    """The window reaches 100,000 devices of Apple beside as many of Google, which does not respond, as soon as without them."""
    if not service.send("GET", "/v1/window")["opened_at"]:
        flood(setup, provider, service, folder)
    times = {True: [], False: []}
    for is_silent in (False, True, False, True):
        if is_silent:
            insert(folder, f"""
                INSERT INTO device (user_id, token, provider, address, shard, seen)
                SELECT 'silent-' || n, 'silent-' || n, 'fcm', 'silent-' || n, 2, 0 FROM generate_series(1, {figures.COUNT}) AS n""")
        times[is_silent].append(window(provider, service, folder)[0])
        insert(folder, "DELETE FROM device WHERE provider = 'fcm'; TRUNCATE push_broadcast")
    ratio = statistics.mean(times[True]) / statistics.mean(times[False])
    print(f"        beside a provider that does not respond {', '.join(f'{seconds:.1f}' for seconds in times[True])} s, alone "
          f"{', '.join(f'{seconds:.1f}' for seconds in times[False])} s: {ratio:.2f}", flush=True)
    assert ratio <= 1.1, ratio


def main():
    os.environ.pop("TAKE5_CONFIG", None)
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        folder = Path(name)
        setup = Setup(folder)
        provider = Provider(folder)
        service = Service(setup, provider, folder)
        try:
            for test in (kill, journey, flood, silent_flood):
                if len(sys.argv) == 2 or sys.argv[2] in test.__name__:
                    test(setup, provider, service, folder)
                    print("ok     ", test.__name__, flush=True)
        except BaseException:
            print(service.log.read_text()[-6000:], file=sys.stderr)
            raise
        finally:
            assert service.stop() == 0
            provider.process.kill()


main()
