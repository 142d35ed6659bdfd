"""Uploads in parts, in all dialects: pieces at the right place, at wrong ones, and with lengths that no file has."""

import base64
import hashlib
import json

import media
import values
from exchange import Exchange
from world import EVERYBODY, UNKNOWN

DIALECTS = ["tus", "draft", "draft of iOS 17"]


def fields(dialect, is_last):
    """The fields by which a request names its dialect, and says whether its body is the last part."""
    return {
        "tus": [("Tus-Resumable", "1.0.0")], "draft": [("Upload-Complete", "?1" if is_last else "?0")],
        "draft of iOS 17": [("Upload-Draft-Interop-Version", "3"), ("Upload-Incomplete", "?0" if is_last else "?1")],
    }[dialect]


TYPES = {"tus": "application/offset+octet-stream", "draft": "application/partial-upload", "draft of iOS 17": "application/octet-stream"}


class Uploads:
    """Draws requests to uploads."""

    def __init__(self, builder):
        self.builder, self.chance, self.world = builder, builder.chance, builder.world

    def made(self, operation, actor, method, path, headers, body, thing, **more):
        exchange = Exchange(actor, operation and self.builder.document.operations[operation], method, path, headers, body, **more)
        exchange.thing, exchange.marker, exchange.is_valid, exchange.readers = thing, None, False, EVERYBODY
        return exchange

    def create(self):
        chance = self.chance
        actor = chance.choice([*self.builder.cast.friends, self.builder.cast.back_end])
        dialect = chance.choice(DIALECTS)
        data = media.png(str(chance.random())) if chance.random() < 0.97 else media.clip(str(chance.random()), "front")
        if chance.random() < 0.1:
            data = media.broken(media.png("x"), chance)
        count = chance.choice([0, 1, 1, len(data) // 2, len(data)])
        is_last = count == len(data)
        headers = fields(dialect, is_last)
        if dialect == "tus" or chance.random() < 0.3:
            headers.append(("Upload-Length", str(len(data) if chance.random() < 0.85 else chance.choice(values.LENGTHS))))
        if dialect == "tus" and chance.random() < 0.2:
            headers.append(("Upload-Metadata", chance.choice(["name cGhvdG8=", "a", "a" * 5000, "\u0301 x", ",,,"])))
        if dialect == "draft" and chance.random() < 0.2:
            digest = hashlib.sha256(data).digest() if chance.random() < 0.7 else bytes(32)
            headers.append(("Repr-Digest", f"sha-256=:{base64.b64encode(digest).decode()}:"))
        if dialect == "draft" and chance.random() < 0.3:
            headers.append(("Upload-Draft-Interop-Version", str(chance.choice([6, 8, 10, 99, -1, 2**63 - 1]))))
        if count:
            headers.append(("Content-Type", TYPES[dialect]))
        exchange = self.made("createUpload", actor, "POST", "/v1/uploads", headers, data[:count], None)
        exchange.values = {"data": data}
        if chance.random() < 0.05:
            exchange.length, exchange.timeout = chance.choice(values.LENGTHS), 1
        return exchange

    def upload(self):
        return self.world.draw("/v1/uploads/{id}", self.chance)

    def append(self, thing=None):
        """A part; mostly the next one."""
        chance = self.chance
        thing = thing or self.upload()
        if not thing:
            return self.create()
        dialect, data = chance.choice(DIALECTS), thing.facts["data"]
        offset = thing.facts["offset"] if chance.random() < 0.8 else chance.choice([*values.LENGTHS, *values.TEXTS])
        start = offset if isinstance(offset, int) and 0 <= offset <= len(data) else 0
        count = chance.choice([0, 1, (len(data) - start) // 2, len(data) - start, len(data) - start, len(data) - start])
        is_last = start + count == len(data)
        # A body that is said to be longer than what is sent, up to what no sum with the offset holds.
        is_longer = chance.random() < 0.25
        if is_longer:
            is_last = chance.random() < 0.3
        headers = fields(dialect, is_last) + [("Content-Type", TYPES[dialect]), ("Upload-Offset", str(offset))]
        if dialect == "draft" and chance.random() < 0.2:
            headers.append(("Upload-Length", str(chance.choice([len(data), *values.LENGTHS]))))
        method, operation = "PATCH", "appendToUpload"
        if dialect == "tus" and chance.random() < 0.3:
            method, operation, headers = "POST", "overrideUploadMethod", [*headers, ("X-HTTP-Method-Override", "PATCH")]
        exchange = self.made(operation, self.owner(thing), method, self.path(thing), headers, data[start:start + count], thing)
        if is_longer:
            exchange.length, exchange.timeout = chance.choice([2**63 - start, 2**63 - 1 - start, 2**63 - 1, *values.LENGTHS]), 1
            if chance.random() < 0.7:
                exchange.body = b""
        return exchange

    def look(self, thing=None):
        """HEAD, GET or DELETE."""
        chance = self.chance
        thing = thing or self.upload()
        if not thing:
            return self.create()
        method = chance.choice(["HEAD", "HEAD", "GET", "GET", "DELETE"])
        dialect = chance.choice(["tus", "draft", "draft of iOS 17"])
        headers = fields(dialect, False)[:1] if dialect != "draft" else []
        # The document has no operations with HEAD.
        operation = {"DELETE": "deleteUpload", "GET": "readUpload", "HEAD": None}[method]
        path = self.path(thing) if chance.random() < 0.9 else "/v1/uploads/" + chance.choice(UNKNOWN)
        return self.made(operation, self.owner(thing), method, path, headers, b"", thing)

    def draw(self):
        if forgotten := self.world.forgotten_upload():
            return self.made("deleteUpload", self.builder.cast.operator, "DELETE", "/v1/uploads/" + forgotten, [], b"", None)
        number = self.chance.random()
        return self.create() if number < 0.25 else self.append() if number < 0.8 else self.look()

    def owner(self, thing):
        cast = self.builder.cast
        return cast.of(thing.owner) if self.chance.random() < 0.9 else cast.draw(self.chance)

    @staticmethod
    def path(thing):
        return "/v1/uploads/" + thing.values["id"]


def learn_upload(world, exchange):
    """Adds an upload that was created, and keeps how much of it has arrived."""
    if exchange.status is None:
        return
    thing = exchange.thing
    if exchange.status == 429 and b"too_many_uploads" in exchange.content:
        # Of those that a user may have open the world has forgotten some.
        world.forget_uploads([upload["id"] for upload in json.loads(exchange.content)["uploads"]])
    if exchange.target == "/v1/uploads" and exchange.method == "POST" and exchange.status in (200, 201) and "location" in exchange.answer and exchange.values:
        id = exchange.answer["location"].rsplit("/", 1)[-1]
        data = exchange.values["data"]
        offset = int(exchange.answer.get("upload-offset", len(exchange.body)))
        thing = world.add("/v1/uploads/{id}", {"id": id}, exchange.actor.user, data=data, offset=offset)
    elif thing and "upload-offset" in exchange.answer and "/v1/uploads/" in exchange.target and thing.facts.get("data"):
        thing.facts["offset"] = int(exchange.answer["upload-offset"])
    if exchange.status == 404 and thing and thing.path == "/v1/uploads/{id}" and thing.values["id"] in exchange.target and exchange.actor.user == thing.owner:
        world.remove(thing)
    elif thing and exchange.status < 300 and thing.facts.get("data") and thing.facts["offset"] == len(thing.facts["data"]):
        if not thing.facts.get("is_whole"):
            thing.facts["is_whole"] = True
            world.add("whole", thing.values, thing.owner)
