"""Phones: processes that use Take5Client, and what a test reads of the service meanwhile."""

import contextlib
import hashlib
import itertools
import json
import pathlib
import subprocess
import urllib.error
import urllib.request

from link import Link
from processes import AUTHORITIES, Phone
from service import AUTHORIZATION, SAMPLES, clip

# Of a clip that a test makes longer, in bytes.
LENGTH = 10 << 20
PASSWORD = "correct horse"


class Stage:
    """The service, nginx before it, and a folder for what the phones store."""

    def __init__(self, take5, program, folder, service, nginx):
        self.take5, self.program, self.folder, self.service, self.nginx = take5, program, folder, service, nginx
        self.numbers = itertools.count(1)
        # The authorities of the system, and the one of nginx, over the bundle of the system in a namespace of the phone's own.
        self.bundle = folder / "authorities.pem"
        self.bundle.write_bytes(pathlib.Path(AUTHORITIES).read_bytes() + nginx.certificate.path.read_bytes())

    @contextlib.contextmanager
    def link(self, secure=False, stops=(), port=None):
        """A link to the service, or to nginx with TLS; `stops` are as those of Link."""
        upstream = port or (int(self.nginx.secure_url.rsplit(":", 1)[1]) if secure else self.service.port)
        link = Link(upstream, stops)
        try:
            yield link
        finally:
            link.close()

    def phone(self, link, secure, name=None):
        """A phone of a new user, or one without a user yet."""
        number = next(self.numbers)
        phone = Phone(self, self.folder / f"phone-{number}", link, secure)
        if name is None:
            phone.name = f"ada{number}"
            phone.user = phone.run("register", phone.name, PASSWORD).line("user ")
        return phone

    def clips(self, length=LENGTH):
        """Both clips of a moment, made longer by bytes that players skip."""
        number = next(self.numbers)
        paths = []
        for camera in ("front", "back"):
            path = self.folder / f"{camera}-{number}.mp4"
            path.write_bytes(clip(f"{camera} {number}", length, camera) if length else (SAMPLES / f"{camera}.mp4").read_bytes())
            paths.append(path)
        return paths

    def selfie(self):
        path = self.folder / f"selfie-{next(self.numbers)}.jpg"
        subprocess.run([self.take5, "still", SAMPLES / "front.mp4", "-o", path], check=True, stdout=subprocess.DEVNULL)
        return path

    def request(self, path, method="GET", body=None, token=None):
        """Asks the service as an operator, or with a token; returns the status and the JSON."""
        headers = {"Authorization": f"Bearer {token}"} if token else dict(AUTHORIZATION)
        data = None
        if body is not None:
            data, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
        request = urllib.request.Request(self.service.url + path, data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                text = response.read()
                return response.status, json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"null")

    def posts(self, user):
        """All posts of a user, in any status but those that were refused."""
        status, page = self.request(f"/v1/posts?author={user}&visibility=public&visibility=friends&visibility=private"
                                    "&status=ready&status=processing")
        assert status == 200, page
        return page["items"]

    def ready(self, user, caption):
        """Checks that one post of a user has this caption, and that it is ready with all of its media; returns it."""
        posts = [post for post in self.posts(user) if post["caption"] == caption]
        assert len(posts) == 1, f"{len(posts)} posts {caption!r}"
        status, post = self.request(f"/v1/posts/{posts[0]['id']}?wait=50")
        assert (status, post["status"]) == (200, "ready"), post
        assert {"composed", "composed.small", "clip.front", "clip.back", "poster", "image"} <= post["assets"].keys(), post
        return post

    def has(self, *paths):
        """Checks that the service has stored exactly the bytes of these files: a blob is named by its SHA-256."""
        for path in paths:
            name = hashlib.sha256(path.read_bytes()).hexdigest()
            assert (self.service.data / "blobs" / name[:2] / name).exists(), f"{path.name}: other bytes"

    def sql(self, statement):
        """Changes the database of the service."""
        subprocess.run(
            [self.take5, "database", "--data", self.service.data, "--", "psql", "--quiet", "--no-psqlrc",
             "--set=ON_ERROR_STOP=1", f"--command={statement}"], check=True, stdout=subprocess.DEVNULL)


def size(*paths):
    return sum(path.stat().st_size for path in paths)


def ratio(link, before, *paths):
    """The bytes that the phone has sent, with heads and TLS, to those of its files; at most 1.05."""
    sent = (link.forwarded - before) / size(*paths)
    assert sent <= 1.05, f"{sent:.3f} of the bytes of the files were sent"
    return f"{sent:.3f} of the bytes"
