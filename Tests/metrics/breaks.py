"""What breaks: each function breaks one thing, waits for the alerts about it, and repairs it."""

import hashlib
import os
import re
import signal
import threading
import urllib.request

from programs import ROOT, moment, wait_until

# The breaks in their order, with the alerts that fire by them and not before.
BREAKS = []


def about(*alerts):
    """Marks a break with the alerts that it makes fire."""

    def mark(function):
        function.alerts = set(alerts)
        BREAKS.append(function)
        return function

    return mark


@about("Take5RequestsSlow")
def lock(system):
    """A session locks the table of posts for seconds while clients read."""
    session = system.postgres.session("BEGIN; LOCK TABLE post IN ACCESS EXCLUSIVE MODE")
    readers = [threading.Thread(target=system.service.get, args=("/v1/posts",)) for _ in range(3)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    session.communicate("ROLLBACK;\n")
    system.prometheus.wait_for("Take5RequestsSlow")


@about("Take5DatabaseDown", "Take5ServerErrors")
def database(system):
    """PostgreSQL is stopped while a client reads."""
    stopped = threading.Event()

    def read():
        while not stopped.wait(0.2):
            system.service.get("/v1/posts")

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    system.postgres.stop()
    try:
        system.prometheus.wait_for("Take5DatabaseDown", "Take5ServerErrors")
    finally:
        stopped.set()
        for reader in readers:
            reader.join()
        system.postgres.start()
    wait_until(lambda: system.service.get("/readyz")[0] == 200, "the service to be ready")
    system.prometheus.wait_for_end("Take5DatabaseDown", "Take5NoWorker", "Take5WorkerLost")


@about(
    "Take5Down", "Take5NoWorker", "Take5WorkerLost", "Take5JobsWaiting", "Take5WaitLong", "Take5ReadySlow", "Take5BlobsDamaged", "Take5JobsDead",
    "Take5EventsWaiting")
def workers(system):
    """The workers are killed, submissions wait for others, and the storage loses a source of one of them."""
    for process in system.workers:
        process.kill()
    posts = [system.service.submit(f"waiting-{number}") for number in range(4)]
    lost = system.service.submit("lost")
    system.postgres.query("INSERT INTO user_event (user_id, number, kind) VALUES ('ada', 1, 'like')")
    system.prometheus.wait_for("Take5Down", "Take5NoWorker", "Take5WorkerLost", "Take5JobsWaiting", "Take5EventsWaiting")
    system.bucket.remove(moment("lost")["front"])
    for process in system.workers:
        process.start()
    system.prometheus.wait_for("Take5WaitLong", "Take5ReadySlow", "Take5BlobsDamaged", "Take5JobsDead")
    for post in posts:
        system.service.wait_for(post)
    system.service.wait_for(lost, "failed")
    system.prometheus.wait_for_end("Take5Down", "Take5NoWorker", "Take5WorkerLost", "Take5JobsWaiting", "Take5EventsWaiting")


@about("Take5LeasesLost")
def leases(system):
    """The worker that holds a job is frozen for longer than its lease, again and again."""
    fires = lambda: "Take5LeasesLost" in system.prometheus.alerts("firing")  # noqa: E731
    holders = "SELECT process FROM job JOIN worker ON worker.id = worker_id WHERE state = 'x'"
    for number in range(12):
        post = system.service.submit(f"frozen-{number}")
        [holder] = wait_until(lambda: system.postgres.query(holders), "a worker to hold the job")[:1]
        os.kill(int(holder), signal.SIGSTOP)
        try:
            wait_until(lambda: holder not in system.postgres.query(holders), "the job to be taken from its worker")
        finally:
            os.kill(int(holder), signal.SIGCONT)
        system.service.wait_for(post)
        if fires():
            break
    system.prometheus.wait_for("Take5LeasesLost", timeout=30)


@about("Take5RowsSetAside")
def rows(system):
    """An announcement is of a kind that this version does not know."""
    system.postgres.query("INSERT INTO announcement (kind, actor) VALUES ('of-a-later-version', 'ada')")
    system.postgres.query("NOTIFY take5_events")
    system.prometheus.wait_for("Take5RowsSetAside")
    system.postgres.query("DELETE FROM announcement")
    system.postgres.query("DELETE FROM row_set_aside")
    system.prometheus.wait_for_end("Take5RowsSetAside")


@about("Take5WebhookFailing")
def webhook(system):
    """The last message to a webhook failed."""
    system.postgres.query(
        "INSERT INTO webhook (public_id, url, kinds, secret, failures) "
        "VALUES (gen_random_uuid(), 'https://app.example.org', '{like}', sha256('x'), 1)")
    system.prometheus.wait_for("Take5WebhookFailing")
    system.postgres.query("DELETE FROM webhook")
    system.prometheus.wait_for_end("Take5WebhookFailing")


@about("Take5StoreFailing", "Take5QueuePaused")
def store(system):
    """The object store cannot be reached while a job waits."""
    for process in system.workers:
        process.signal(signal.SIGSTOP)
    post = system.service.submit("away")
    system.link.go_down()
    for process in system.workers:
        process.signal(signal.SIGCONT)
    try:
        system.prometheus.wait_for("Take5StoreFailing", "Take5QueuePaused")
    finally:
        system.link.go_up()
    system.service.wait_for(post)


@about("Take5StorageLow")
def space(system):
    """The service reserves half of the space that is free."""
    state = os.statvfs(system.folder)
    system.service.restart("--min-free", str((state.f_bavail * state.f_frsize >> 20) // 2))
    system.prometheus.wait_for("Take5StorageLow")
    system.service.restart()


@about("Take5WallDown")
def walls(system):
    """The workers start without walls around media processes."""
    assert system.prometheus.query("take5_sandbox_wall == 1"), "no wall stands on this machine"
    for process in system.workers:
        process.restart("--sandbox", "off")
    system.prometheus.wait_for("Take5WallDown")
    for process in system.workers:
        process.restart()


@about("Take5Quarantined")
def deadline(system):
    """The service gives a moment ten seconds, and an encoder and a size that take longer on any machine."""
    text = (ROOT / "jobs" / "take5-post.json").read_text()
    text = re.sub(r'"deadline_seconds": \d+', '"deadline_seconds": 10', text).replace('"superfast"', '"placebo"')
    text = text.replace('"width": 1080, "height": 1920', '"width": 2160, "height": 3840')
    definition = system.folder / "take5-post.json"
    definition.write_text(text)
    system.service.restart("--definition", definition)
    post = system.service.submit("slow")
    system.prometheus.wait_for("Take5Quarantined")
    system.service.wait_for(post, "rejected")
    system.service.restart()


class Bucket:
    """The bucket of the store, through the interface of Swift."""

    def __init__(self, url):
        self.name = url.removeprefix("s3://").split("?")[0]
        self.endpoint = url.split("endpoint=")[1]

    def remove(self, content):
        """Removes the blob of some bytes."""
        keys = {"X-Storage-User": os.environ["AWS_ACCESS_KEY_ID"], "X-Storage-Pass": os.environ["AWS_SECRET_ACCESS_KEY"]}
        with urllib.request.urlopen(urllib.request.Request(f"{self.endpoint}/auth/v1.0", headers=keys)) as response:
            token = response.headers["X-Auth-Token"]
        digest = hashlib.sha256(content).hexdigest()
        urllib.request.urlopen(urllib.request.Request(
            f"{self.endpoint}/v1/AUTH_take5/{self.name}/{digest[:2]}/{digest}", headers={"X-Auth-Token": token},
            method="DELETE")).close()
