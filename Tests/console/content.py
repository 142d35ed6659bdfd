"""What the console shows: a service with users, posts, cases and jobs of every kind. Each is made when a test first needs it."""

import contextlib
import functools
import http.client
import json
import random
import subprocess
import urllib.parse

from service import KEY, SAMPLES, clip, wait_until

BERLIN, NEW_YORK, SYDNEY = (52.5163, 13.3777), (40.6892, -74.0445), (-33.8568, 151.2153)
COLUMNS = "kind, public_id, queue, attempt, max_attempts, lost, author, created_at, arguments"


def camera_clip(name, camera):
    """A clip of a camera that differs from the others in a box that players skip."""
    return clip(name, (SAMPLES / f"{camera}.mp4").stat().st_size + 64, camera)


def damaged_clip():
    """A clip whose tables are whole, and whose frames are not."""
    data = bytearray(camera_clip("damaged", "front"))
    start = data.index(b"mdat") + (1 << 16)
    noise = random.Random(5).randbytes(1 << 18)
    data[start:start + len(noise)] = noise
    return bytes(data)


def coordinate(place):
    return {"latitude": place[0], "longitude": place[1]}


def id_at(seconds, number):
    """An expression of SQL for an id of version 7 that is so many seconds old; ids grow with the number."""
    milliseconds = f"((extract(epoch FROM clock_timestamp()) - {seconds}) * 1000)::bigint"
    return f"(lpad(to_hex({milliseconds}), 12, '0') || '7000' || '8000' || lpad(to_hex({number}), 12, '0'))::uuid"


def quoted(text):
    """A text in SQL."""
    return "NULL" if text is None else "'" + text.replace("'", "''") + "'"


class Content:
    def __init__(self, program, service):
        self.program, self.service = program, service
        self.number = 0

    # What reaches the service.

    def request(self, method, path, body=None, *, user=None, key=KEY, **headers):
        """Sends a request with JSON, or with bytes that a header describes; returns the JSON of the response."""
        fields = {"Authorization": f"Bearer {key}", **{name.replace("_", "-"): value for name, value in headers.items()}}
        if user:
            fields["Take5-User"] = urllib.parse.quote(user, safe="")
        if body is not None and not isinstance(body, bytes):
            body, fields["Content-Type"] = json.dumps(body).encode(), "application/json"
        connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=120)
        with contextlib.closing(connection):
            connection.request(method, path, body, fields)
            response = connection.getresponse()
            data = response.read()
        assert response.status < 400, (method, path, response.status, data)
        return json.loads(data) if data else None

    def status(self, path, key):
        """The status of a response to GET."""
        connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=120)
        with contextlib.closing(connection):
            connection.request("GET", path, headers={"Authorization": f"Bearer {key}"})
            return connection.getresponse().status

    def form(self, method, path, fields, files, **headers):
        """Sends a form with texts and with files: `(part, name of the file, bytes)`."""
        boundary = "take5-console-tests"
        parts = [(f'form-data; name="{name}"', value.encode()) for name, value in fields.items()]
        parts += [(f'form-data; name="{name}"; filename="{file}"', data) for name, file, data in files]
        body = b"".join(f"--{boundary}\r\nContent-Disposition: {head}\r\n\r\n".encode() + data + b"\r\n" for head, data in parts)
        return self.request(
            method, path, body + f"--{boundary}--\r\n".encode(), Content_Type=f"multipart/form-data; boundary={boundary}", **headers)

    def command(self, *arguments):
        """Runs a command of take5 on the store, and returns what it prints."""
        return subprocess.run(
            [self.program, *arguments, "--data", self.service.data], check=True, stdout=subprocess.PIPE, text=True).stdout

    def sql(self, statement):
        """Changes the database of the service."""
        subprocess.run(
            [self.program, "database", "--data", self.service.data, "--", "psql", "--quiet", "--no-psqlrc",
             "--set=ON_ERROR_STOP=1", f"--command={statement}"], check=True, stdout=subprocess.DEVNULL)

    def new(self, word):
        """A name that no other test has."""
        self.number += 1
        return f"{word}-{self.number}"

    def key(self, *scopes):
        """An API key with some scopes, once the service accepts it; returns its name and the key."""
        name = self.new("key")
        key = json.loads(self.command("keys", "create", name, "--scopes", ",".join(scopes), "--json"))["key"]
        wait_until(lambda: self.status("/v1/webhooks", key) != 401, "a new key is accepted")
        return name, key

    # Posts.

    def moment(self, author, front=None, back=None, *, place=None, waits=True, **fields):
        """A moment; once it is ready or rejected, if the caller waits."""
        name = self.new(author)
        if place:
            fields["location"] = json.dumps(coordinate(place))
        files = [("front", "front.mp4", front or camera_clip(name, "front")), ("back", "back.mp4", back or camera_clip(name, "back"))]
        post = self.form("POST", "/v1/posts", {"kind": "take5", "author": author, **fields}, files)
        return self.finished(post) if waits else post

    def finished(self, post):
        """A post once its media are processed."""
        while post["status"] == "processing":
            post = self.request("GET", f"/v1/posts/{post['id']}?wait=50")
        return post

    def marker(self, author, place=None, **fields):
        """A marker without media."""
        if place:
            fields["location"] = coordinate(place)
        return self.request("POST", "/v1/posts", {"kind": "marker", "author": author, "title": "Here", **fields})

    @functools.cached_property
    def photo_bytes(self):
        """A photo: a frame of a sample."""
        path = self.service.data.parent / "photo.jpg"
        subprocess.run([self.program, "still", SAMPLES / "back.mp4", "--at", "1.0", "--force", "-o", path], check=True,
                       stdout=subprocess.DEVNULL)
        return path.read_bytes()

    def photo(self, author, **fields):
        """A post with two photos."""
        files = [("photo", "one.jpg", self.photo_bytes), ("photo", "two.jpg", self.photo_bytes)]
        return self.finished(self.form("POST", "/v1/posts", {"kind": "photo", "author": author, **fields}, files))

    @functools.cached_property
    def ada(self):
        """A user with a profile, who has posted a moment."""
        self.request("PUT", "/v1/users/ada", {"user_name": "ada", "name": "Ada Lovelace", "bio": "Numbers"})
        self.request("PUT", "/v1/users/bob", {"user_name": "bob", "name": "Bob Müller"})
        return "ada"

    @functools.cached_property
    def ready(self):
        """A moment that is ready, with what others have left on it."""
        post = self.moment(self.ada, place=BERLIN, caption="A lake at dusk")
        self.request("POST", f"/v1/posts/{post['id']}/comments", {"author": "bob", "text": "How calm"})
        self.request("PUT", f"/v1/users/bob/likes/{post['id']}", user="bob")
        return post

    @functools.cached_property
    def rejected(self):
        """A moment whose front clip is damaged."""
        post = self.moment(self.ada, front=damaged_clip(), caption="Noise")
        assert post["status"] == "rejected", post
        return post

    @functools.cached_property
    def photos(self):
        return self.photo(self.ada, caption="Twice the lake")

    # What operators look after.

    def job(self, state, *, author="ada", error=None, age=600, queue="elsewhere"):
        """A job of a queue that no worker reads: `available`, `scheduled` or `dead`; returns its id."""
        self.number += 1
        number = 10**9 + self.number
        columns = f"'post', {id_at(age, number)}, '{queue}', 1::smallint, 5::smallint, 0::smallint, {quoted(author)}, " \
                  f"clock_timestamp() - interval '{age} seconds', '{{}}'"
        if state == "dead":
            self.sql(f"INSERT INTO job_dead (id, {COLUMNS}, priority, deadline_seconds, died_at, last_error) "
                     f"VALUES ({number}, {columns}, 5, 120, clock_timestamp() - interval '{age} seconds', {quoted(error)})")
        else:
            due = "+ interval '1 day'" if state == "scheduled" else f"- interval '{age} seconds'"
            self.sql(f"INSERT INTO job ({COLUMNS}, state, rank, run_at, deadline_seconds, last_error) VALUES ({columns}, "
                     f"'{state[0]}', 1, clock_timestamp() {due}, 120, {quoted(error)})")
        query = urllib.parse.urlencode({"queue": queue, "author": author, "limit": 1})
        [found] = self.request("GET", f"/v1/jobs?{query}")["items"]
        return found["id"]

    @functools.cached_property
    def dead(self):
        return self.job("dead", author="dora", error="the disk is broken")

    def quarantine(self):
        """Media in quarantine; returns their hash."""
        self.ready
        self.number += 1
        hash = f"{self.number:08x}" * 8
        self.sql(f"INSERT INTO media_crash (inputs, crashes, last_error, kind, code, stage, signal, definition, version, "
                 f"quarantined_at) SELECT decode('{hash}', 'hex'), 2, 'the process ended', 'clip', 'decoder_crashed', 'compose', "
                 f"'SIGSEGV', hash, '1.0', clock_timestamp() FROM definition WHERE name = 'take5-post' LIMIT 1")
        return hash

    def worker(self, host, seconds):
        """A worker on another machine, which takes so long for a moment."""
        recent = json.dumps({"post": {"completed": 50, "failed": 1, "p50": seconds, "p95": 2 * seconds}})
        self.sql(f"INSERT INTO worker (host, process, lease_seconds, recent) VALUES ({quoted(host)}, 1, 3600, {quoted(recent)})")

    def run(self, **selection):
        """A run of reprocessing, so slow that a test can change it."""
        return self.request("POST", "/v1/operations/runs", {"kinds": ["take5"], "is_forced": True, "rate": 0.01, **selection})

    def case(self):
        """A case that a report has opened, about a marker; returns the marker and the case."""
        post = self.marker(self.new("mallory"), title="Buy gold")
        self.request("POST", "/v1/reports", {"post": post["id"], "reason": "spam", "text": "The third today"}, user="bob")
        cases = self.request("GET", "/v1/moderation/cases?limit=100")["items"]
        return post, next(each for each in cases if each["post"] == post["id"])

    def webhook(self, url="https://app.example.org/take5", kinds=("comment",)):
        return self.request("POST", "/v1/webhooks", {"url": url, "kinds": list(kinds)})
