"""Builds requests for the operations of the document: valid ones of what exists, and the same with extreme values in places."""

import urllib.parse

import media
import values
from exchange import Exchange
from sensible import sensible
from subjects import Subjects
from world import EVERYBODY, UNKNOWN

# How many requests have one extreme value, and how many have several.
ONE, SEVERAL = 0.3, 0.1


def quoted(text):
    return urllib.parse.quote(str(text).encode("utf-8", "surrogatepass"), safe="")


class Builder:
    """Draws requests; one for each thread."""

    def __init__(self, document, world, cast, chance):
        self.document, self.world, self.cast, self.chance = document, world, cast, chance
        self.subjects = Subjects(world, cast, chance)

    def build(self, operation, thing=None, actor=None, extremes=None):
        """A request of an operation; None if nothing exists that it could be about.

        extremes: how many places have extreme values; None: that is drawn.
        """
        chance = self.chance
        thing = thing or self.subjects.draw(operation)
        if thing is None:
            return None
        actor = actor or self.subjects.actor(operation, thing)
        if extremes is None:
            number = chance.random()
            extremes = 1 if number < ONE else chance.randint(2, 4) if number < ONE + SEVERAL else 0
        places = [chance.choice(["path", "query", "header", "body", "body", "length"]) for _ in range(extremes)]
        path = self.path(operation, thing, "path" in places)
        query = self.query(operation, thing, places.count("query"))
        headers = self.headers(operation, thing, actor, places.count("header"))
        body, type, marker, readers = self.body(operation, thing, actor, places.count("body"))
        for name, value in headers:
            if marker and name == "Take5-User":
                self.world.unblock(marker, value)
        if type:
            headers.append(("Content-Type", type))
        exchange = Exchange(actor, operation, operation.method, path + query, headers, body)
        if "length" in places and chance.random() < 0.3:
            exchange.length, exchange.timeout = chance.choice(values.LENGTHS), 1
        waits = "wait" in query or any(name == "Prefer" for name, _ in headers)
        if extremes and waits:
            exchange.timeout = 2
        exchange.thing, exchange.marker, exchange.is_valid, exchange.readers = thing, marker, not extremes, readers
        return exchange

    # The parts of a request

    def path(self, operation, thing, is_extreme):
        filled = dict(thing.values)
        if is_extreme and filled:
            name = self.chance.choice(sorted(filled))
            filled[name] = self.chance.choice([*UNKNOWN, values.text(self.chance)])
        path = operation.path
        for name, value in filled.items():
            path = path.replace("{" + name + "}", quoted(value))
        return path

    def query(self, operation, thing, extremes):
        chance, pairs = self.chance, []
        for parameter in operation.parameters_in("query"):
            name = parameter["name"]
            if not parameter.get("required") and chance.random() > 0.2 and name not in thing.facts.get("query", {}):
                continue
            schema = self.document.resolved(parameter["schema"])
            if name in thing.facts.get("query", {}):
                value = thing.facts["query"][name]
            elif name == "wait":
                value = chance.choice([0, 1])
            elif name == "id":
                ids = {"listPosts": "post", "listJobs": "job", "listPlaces": "place", "searchUsers": "user"}[operation.id]
                value = [self.subjects.known(ids) for _ in range(chance.choice([1, 2, 100, 101]))]
            elif "example" in parameter and (name in ("month", "zone") or chance.random() < 0.3):
                value = parameter["example"]
            else:
                value = self.subjects.known(name) or self.document.sample(schema, chance, self.subjects.known)
            items = value if isinstance(value, list) and parameter.get("explode", True) else [value]
            pairs += [[name, ",".join(map(str, item)) if isinstance(item, list) else str(item)] for item in items]
        for _ in range(extremes):
            names = [parameter["name"] for parameter in operation.parameters_in("query")] + ["unknown"]
            pair = [chance.choice(names), values.text(chance)]
            pairs = [other for other in pairs if other[0] != pair[0] or chance.random() < 0.2] + [pair]
        if self.chance.random() < 0.9:
            present = {name for name, _ in pairs}
            pairs += [[name, value] for name, value in thing.facts.get("query", {}).items() if name not in present]
        present = {name for name, _ in pairs}
        if not extremes:
            if "near" not in present:
                pairs = [[name, value] for name, value in pairs if name != "radius" and (name, value) != ("sort", "distance")]
            # A list of ids has no other parameters.
            if "id" in present and chance.random() < 0.8:
                pairs = [pair for pair in pairs if pair[0] == "id"]
        return "?" + "&".join(f"{quoted(name)}={quoted(value)}" for name, value in pairs) if pairs else ""

    def headers(self, operation, thing, actor, extremes):
        chance, fields = self.chance, []
        for parameter in operation.parameters_in("header"):
            name = parameter["name"]
            if name == "Take5-User":
                continue
            if name == "Idempotency-Key" and chance.random() < 0.1:
                fields.append((name, f'"key-{chance.randrange(8)}"'))
            elif name == "Prefer" and chance.random() < 0.2:
                fields.append((name, f"wait={chance.choice([0, 1])}"))
            elif name == "If-Match" and (parameter.get("required") or chance.random() < 0.15):
                fields.append((name, thing.facts.get("etag") or "*"))
            elif name not in ("Idempotency-Key", "Prefer", "If-Match") and (parameter.get("required") or chance.random() < 0.1):
                fields.append((name, str(self.document.sample(parameter.get("schema", {}), chance, self.subjects.known))))
        for _ in range(extremes):
            names = [parameter["name"] for parameter in operation.parameters_in("header")] or ["X-Request-Id"]
            name, value = chance.choice(names + ["Accept", "Expect", "Range", "X-Forwarded-For"]), values.text(chance)
            if chance.random() < 0.5 and name in ("Range", "If-Range", "Last-Event-ID", "Prefer"):
                number = chance.choice(values.NUMBERS)
                value = {"Range": f"bytes={number}-{chance.choice(values.NUMBERS)}", "Prefer": f"wait={number}"}.get(name, f"{number}-{number}")
            fields.append((name, value))
        return fields

    def body(self, operation, thing, actor, extremes):
        """The bytes, their type, the marker in them, and the users who may read it."""
        if not operation.bodies:
            return (b"x" if extremes and self.chance.random() < 0.2 else b""), None, None, EVERYBODY
        chance = self.chance
        type = chance.choice(sorted(operation.bodies))
        if type == "application/octet-stream":
            type = "application/offset+octet-stream" if "/uploads" in operation.path else "image/png"
        if type.startswith("image/"):
            image = media.png(str(chance.random()))
            return (media.broken(image, chance) if extremes else image), "image/png", None, EVERYBODY
        if type == "application/offset+octet-stream":
            return b"x" * chance.choice([0, 1, 10]), type, None, EVERYBODY
        content = self.document.sample(operation.bodies[type], chance, self.subjects.known)
        content, marker, readers = sensible(self, operation, thing, actor, content, type)
        for _ in range(extremes):
            content = values.changed(content, chance)
        if extremes and marker and isinstance(content, dict):
            self.world.unblock(marker, content.get("author"))
        if type == "multipart/form-data":
            body, type = media.submission(content, chance, extremes)
            return body, type, marker, readers
        data = values.encoded(content, chance)
        if extremes and chance.random() < 0.2:
            data = values.broken(data, chance)
        return data, type, marker, readers
