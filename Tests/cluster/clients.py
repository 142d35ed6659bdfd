"""Clients that repeat a submission with its Idempotency-Key until it is acknowledged, and the ledger of what was."""

import collections
import contextlib
import http.client
import json
import random
import threading
import time
import zlib

from services import KEY
from submissions import kind_of, png, request_of

# What a client repeats, as docs/api.md says it; 409: the first request with the key still runs.
BUSY = (408, 409, 425, 429, 500, 502, 503, 504)
TIMEOUT = 15
TUS = {"Tus-Resumable": "1.0.0"}


Acknowledgement = collections.namedtuple("Acknowledgement", "kind id sent answered")


class Ledger:
    """What the service has acknowledged, by key, and when."""

    def __init__(self, path):
        self.file, self.lock = path.open("w"), threading.Lock()
        self.acknowledged, self.kinds, self.answers = {}, collections.Counter(), []
        # The times in which what is committed is lost later: from when on, and until when.
        self.losses = []
        self.retries, self.replays, self.violations = collections.Counter(), 0, []

    def acknowledge(self, kind, key, answer):
        record, is_replay = json.loads(answer[2]), "Idempotency-Replayed" in answer[1]
        with self.lock:
            self.replays += is_replay
            self.acknowledged[key] = Acknowledgement(kind, record["id"], *answer[3:])
            self.kinds[kind] += 1
            self.answers.append(time.monotonic())
            self.file.write(json.dumps({"key": key, "kind": kind, "id": record["id"], "is_replay": is_replay}) + "\n")
            self.file.flush()

    def losses_of(self, key):
        """The times of which one was that of the request that was acknowledged."""
        record = self.acknowledged[key]
        return [(start, end) for start, end in self.losses if record.sent <= end and record.answered >= start]

    def retry(self, why):
        with self.lock:
            self.retries[why] += 1

    def violate(self, text):
        with self.lock:
            self.violations.append(text)

    def silence(self, start, end):
        """The longest time without an answer between two times, and when it began."""
        times = [start, *(time for time in self.answers if start <= time <= end), end]
        return max((later - earlier, earlier) for earlier, later in zip(times, times[1:]))


class Client:
    """One client: a thread with a connection through nginx."""

    def __init__(self, machine, proxy, ledger, stop):
        self.machine, self.address, self.ledger, self.stop = machine, proxy.address, ledger, stop
        self.connection = None

    def send(self, method, path, headers, body=b""):
        """Sends a request once; returns its status, its header, its body, and the times of the request and of the response, or nothing if
        none comes."""
        sent = time.monotonic()
        try:
            if not self.connection:
                self.connection = http.client.HTTPConnection(self.address, 80, timeout=TIMEOUT)
            # A stored response comes before the body is sent to its end.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.connection.request(method, path, body, {"Authorization": f"Bearer {KEY}", **headers})
            response = self.connection.getresponse()
            return response.status, response.headers, response.read(), sent, time.monotonic()
        except (OSError, http.client.HTTPException) as failure:
            self.connection.close()
            self.connection = None
            self.ledger.retry(type(failure).__name__)
            return None

    def repeat(self, what, method, path, headers, body=b"", also=()):
        """Sends a request until it is answered for good; nothing if the test ends before."""
        pause = 0.2
        while not self.stop.is_set():
            answer = self.send(method, path, headers, body)
            if answer and answer[0] not in BUSY:
                if answer[0] >= 400 and answer[0] not in also:
                    self.ledger.violate(f"{what}: {method} {path} gets {answer[0]}: {answer[2][:400].decode(errors='replace')}")
                return answer
            if answer:
                self.ledger.retry(answer[0])
                pause = max(pause, min(float(answer[1].get("Retry-After") or 0), 10))
            self.stop.wait(pause * random.uniform(0.75, 1.25))
            pause = min(pause * 2, 5)
        return None

    def submit(self, kind, key, post=None):
        if kind == "photo in parts":
            return self.submit_in_parts(kind, key)
        method, path, body, type = request_of(kind, key, post)
        answer = self.repeat(f"{kind} {key}", method, path, {"Content-Type": type, "Idempotency-Key": f'"{key}"'}, body)
        if answer and answer[0] in (200, 201, 202):
            self.ledger.acknowledge(kind, key, answer)

    def submit_in_parts(self, kind, key):
        """Uploads a photo in parts with tus, and submits it before its bytes or after them."""
        user, what, data = {"Take5-User": key}, f"{kind} {key}", png(key, 120, 96, 12)
        answer = self.repeat(what, "POST", "/v1/uploads", {**TUS, **user, "Upload-Length": str(len(data))})
        if not answer or answer[0] != 201:
            return
        path = "/v1/uploads/" + answer[1]["Location"].rsplit("/", 1)[1]
        body = json.dumps({"kind": "photo", "caption": key, "photo": [{"upload": path.rsplit("/", 1)[1]}]}).encode()
        is_first = zlib.crc32(key.encode()) % 2 == 0
        headers = {**user, "Content-Type": "application/json", "Idempotency-Key": f'"{key}"'}
        submit = lambda: self.repeat(what, "POST", "/v1/posts", headers, body)
        answer = submit() if is_first else None
        # A post that names the upload uses it up as soon as its bytes are there: then it is gone.
        if not self.send_parts(what, path, user, data, also=(404,) if is_first else ()):
            return
        answer = answer or submit()
        if answer and answer[0] in (201, 202):
            self.ledger.acknowledge(kind, key, answer)

    def send_parts(self, what, path, user, data, also):
        offset = 0
        while offset < len(data):
            part = data[offset:offset + (len(data) + 1) // 2]
            answer = self.send("PATCH", path, {
                **TUS, **user, "Upload-Offset": str(offset), "Content-Type": "application/offset+octet-stream"}, part)
            if answer and answer[0] == 204:
                offset = int(answer[1]["Upload-Offset"])
                continue
            # HEAD says where to go on.
            answer = self.repeat(what, "HEAD", path, {**TUS, **user}, also=also)
            if answer is None or answer[0] >= 400:
                return answer is not None and answer[0] in also
            self.ledger.retry("PATCH")
            received = int(answer[1]["Upload-Offset"])
            if received < offset:
                self.ledger.violate(f"{what}: the offset {offset} was acknowledged, and is {received} later")
            offset = received
        return True


def repeat_acknowledged(network, ledger, count, seconds):
    """Repeats some submissions, which must get the response that acknowledged them, for a time at most."""
    stop = threading.Event()
    timer = threading.Timer(seconds, stop.set)
    timer.daemon = True
    timer.start()
    client = Client(network["client"], network["proxy"], ledger, stop)
    keys = sorted(
        key for key, record in ledger.acknowledged.items() if record.kind not in ("photo in parts", "comment") and not ledger.losses_of(key))
    for key in random.sample(keys, min(count, len(keys))):
        kind, id, *_ = ledger.acknowledged[key]
        method, path, body, type = request_of(kind, key)
        answer = client.repeat(f"repeated {kind} {key}", method, path, {"Content-Type": type, "Idempotency-Key": f'"{key}"'}, body)
        if not answer:
            ledger.violate(f"{kind} {key}: repeated it gets no answer within {seconds} s")
            break
        if "Idempotency-Replayed" not in answer[1] or json.loads(answer[2])["id"] != id:
            ledger.violate(f"{kind} {key}: acknowledged as {id}, and repeated it gets {answer[2].decode()}")
    timer.cancel()


class Crowd:
    """The clients of a run. They submit as fast as `allow` says, so that the faults last as long as the submissions."""

    def __init__(self, network, ledger, jobs, count, prefix):
        self.ledger, self.jobs, self.prefix, self.stop = ledger, jobs, prefix, threading.Event()
        self.changed, self.next, self.allowed = threading.Condition(), 0, 0
        self.in_parts, self.are_parts_held = 0, False
        # Whose events are read: the author of a post that gets comments.
        self.watched = f"{prefix}-watched"
        self.pulses, self.pulse_ends = 0, threading.Event()
        client = lambda: Client(network["client"], network["proxy"], ledger, self.stop)
        self.post = None
        self.threads = [threading.Thread(target=self.run, args=(client(),), daemon=True) for _ in range(count)]
        self.pulse_threads = [threading.Thread(target=self.pulse, args=(client(), number), daemon=True) for number in range(4)]
        for thread in self.threads + self.pulse_threads:
            thread.start()

    def allow(self, share):
        with self.changed:
            self.allowed = max(self.allowed, min(self.jobs, round(self.jobs * share)))
            self.changed.notify_all()

    def run(self, client):
        client.machine.enter()
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.next < self.allowed or self.next == self.jobs)
                if self.next == self.jobs:
                    return
                number, self.next = self.next, self.next + 1
            kind = kind_of(number)
            try:
                with self.parts() if kind == "photo in parts" else contextlib.nullcontext():
                    client.submit(kind, f"{self.prefix}-{number}")
            except Exception as failure:
                self.ledger.violate(f"client: {number}: {failure!r}")

    def unacknowledged(self):
        """What has been submitted and not acknowledged: the kinds and the keys."""
        with self.changed:
            count = self.next
        keys = ((kind_of(number), f"{self.prefix}-{number}") for number in range(count))
        return [f"{kind} {key}" for kind, key in keys if key not in self.ledger.acknowledged]

    @contextlib.contextmanager
    def parts(self):
        with self.changed:
            self.changed.wait_for(lambda: not self.are_parts_held)
            self.in_parts += 1
        try:
            yield
        finally:
            with self.changed:
                self.in_parts -= 1
                self.changed.notify_all()

    @contextlib.contextmanager
    def held_parts(self, seconds):
        """A time in which no upload in parts is on its way: no backup has its bytes."""
        with self.changed:
            self.are_parts_held = True
        try:
            with self.changed:
                if not self.changed.wait_for(lambda: not self.in_parts, seconds):
                    raise TimeoutError(f"{self.in_parts} uploads in parts have not ended after {seconds} s")
            yield
        finally:
            with self.changed:
                self.are_parts_held = False
                self.changed.notify_all()

    def pulse(self, client, number):
        """Submits posts of text alone and comments, which make no job: they show when the service answers."""
        client.machine.enter()
        count = 0
        try:
            if number == 0:
                client.submit("text", self.watched)
                self.post = self.ledger.acknowledged[self.watched].id
            while not self.pulse_ends.wait(0.5):
                kind = "comment" if self.post and count % 2 else "text"
                client.submit(kind, f"{self.prefix}-{kind}-{number}-{count}", self.post)
                count += 1
        except Exception as failure:
            self.ledger.violate(f"client of text {number}: {failure!r}")

    def wait(self, seconds):
        """Waits until everything is acknowledged; returns whether it is."""
        end = time.monotonic() + seconds
        self.pulse_ends.set()
        for thread in self.threads + self.pulse_threads:
            thread.join(max(0, end - time.monotonic()))
        is_whole = not any(thread.is_alive() for thread in self.threads + self.pulse_threads)
        self.stop.set()
        return is_whole
