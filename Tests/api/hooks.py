"""Hooks for the rules of the API that its OpenAPI document cannot express."""

import itertools
import json
import os
import re
import urllib.request

import requests.adapters
import schemathesis
from hypothesis import strategies as st
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation import GenerationMode
from schemathesis.generation.meta import ComponentInfo, TestPhase

# Set by run.sh: ids that exist, by the segment of the path before them; the user whose token is sent, or nothing, and the token;
# a photo.
SEEDS = json.loads(os.environ["TAKE5_SEEDS"])
USER = os.environ["TAKE5_USER"]
# What is created with an author.
AUTHORED = re.compile(r"/v1/(posts|reports|collections|.*/comments|.*/reactions)")
TOKEN = os.environ["TAKE5_TOKEN"]
with open(os.environ["TAKE5_PHOTO"], "rb") as file:
    PHOTO = file.read()

# The maximum number of polygons, of rings in a polygon, and of positions in a ring.
MAX_ITEMS = 8

# The names of files in a submission.
MEDIA = {"front", "back", "photo", "image", "video"}

# An id that does not exist.
UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"

# The syntax of a number and of a time in a form.
NUMBER = re.compile(r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\Z")
TIME = re.compile(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})\Z")

# The bytes of an image or of an upload: a real photo, so that jobs complete, or random bytes.
for media_type in ["application/octet-stream", "image/jpeg", "image/heic", "image/avif", "image/png", "image/webp"]:
    schemathesis.openapi.media_type(media_type, st.just(PHOTO) | st.binary(min_size=1, max_size=64))

# A part of an upload.
schemathesis.openapi.media_type("application/offset+octet-stream", st.binary(max_size=64))


@schemathesis.serializer("application/offset+octet-stream")
def part(context, value):
    """Sends the bytes of a part as they are."""
    return value if isinstance(value, bytes) else str(value).encode()


# Names of the time zone database; a schema cannot list all.
schemathesis.openapi.format("time-zone", st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"]))


def send_as_client(self, request, **options):
    """Sends a request as the clients of the service do, in ways that no hook of schemathesis can."""
    # Attempts at a password are limited for each address.
    number = next(REQUESTS)
    request.headers["X-Forwarded-For"] = f"2001:db8:{number >> 16:x}:{number & 0xFFFF:x}::1"
    # The token of all further requests must stay valid.
    if USER and request.method == "DELETE" and request.path_url == "/v1/tokens/current":
        if request.headers.get("Authorization") == "Bearer " + TOKEN:
            request.headers["Authorization"] = "Bearer " + minted_token()
    # A POST that removes an upload looks like any other to what follows it.
    if request.method == "POST" and request.headers.get("X-HTTP-Method-Override") == "DELETE":
        request.url = re.sub("/v1/uploads/[^/?]+", "/v1/uploads/" + UNKNOWN_ID, request.url)
    response = send(self, request, **{**options, "stream": True})
    # Of an endless stream of events it reads the first one.
    if response.headers.get("Content-Type", "").startswith("text/event-stream"):
        lines = itertools.takewhile(bool, response.iter_lines())
        response._content = b"\n".join([*lines, b"", b""])
        response._content_consumed = True
        # Not `response.close()`, which returns a connection whose content is consumed to the pool.
        response.raw.close()
    else:
        response.content
    return response


REQUESTS = itertools.count()
send = requests.adapters.HTTPAdapter.send
requests.adapters.HTTPAdapter.send = send_as_client


def existing(path, name, value):
    """Replaces every other id by one that exists."""
    seed = SEEDS.get(path.split("/{" + name + "}")[0].rsplit("/", 1)[-1])
    return seed if seed and isinstance(value, str) and len(value.rstrip("02468ace")) < len(value) else value


def ordered(box):
    """Exchanges south and north of a box if necessary, because a schema cannot compare."""
    numbers = box.split(",") if isinstance(box, str) else box
    if not isinstance(numbers, list) or len(numbers) != 4:
        return box
    west, south, east, north = numbers
    if float(south) > float(north):
        south, north = north, south
    return ",".join([west, south, east, north]) if isinstance(box, str) else [west, south, east, north]


def closed(ring):
    """Closes a ring, which a schema cannot require, and narrows it, so that it does not enclose a pole."""
    return [[position[0] / 6, *position[1:]] for position in [*ring[:-1][:MAX_ITEMS], ring[0]]]


def valid_area(area):
    """Closes all rings of one or more polygons and limits their number, because a schema cannot limit the total."""
    is_one = area["type"] == "Polygon"
    polygons = [area["coordinates"]] if is_one else area["coordinates"][:MAX_ITEMS]
    polygons = [[closed(ring) for ring in polygon[:MAX_ITEMS]] for polygon in polygons]
    return {**area, "coordinates": polygons[0] if is_one else polygons}


def resolved(document, schema):
    """Returns the schema, or the one that it refers to."""
    for name in schema.get("$ref", "#").split("/")[1:]:
        document = document[name]
    return document if "$ref" in schema else schema


def fits(schema, text):
    """Whether the text of a part conforms to its schema."""
    if schema.get("format") == "binary":
        return True
    if "enum" in schema:
        return text in schema["enum"]
    if schema["type"] == "number":
        return NUMBER.match(text) is not None and schema["minimum"] <= float(text) <= schema["maximum"]
    if schema.get("format") == "date-time":
        return TIME.match(text) is not None
    return schema.get("minLength", 0) <= len(text) <= schema.get("maxLength", len(text)) and "\0" not in text


def is_valid_as_sent(case):
    """Whether a form is valid as it is sent: without a part for an empty value, with one part for each item of a list."""
    document = case.operation.schema.raw_schema
    content = document["paths"][case.path][case.method.lower()]["requestBody"]["content"]
    form = resolved(document, content["multipart/form-data"]["schema"])
    sent = set()
    for name, value in case.body.items():
        if name not in form["properties"] and value not in (None, []):
            return False
        schema = resolved(document, form["properties"].get(name, {}))
        parts = value if isinstance(value, list) else [value]
        # A part that is null is sent as text, an additional one is not sent.
        parts = ["null" if part is None else part for part in parts if part is not None or name in form["properties"]]
        if len(parts) > schema.get("maxItems", 1):
            return False
        sent.update([name] if parts else [])
        if not all(fits(schema.get("items", schema), str(part)) for part in parts):
            return False
    return sent.issuperset(form["required"])


def valid_post(post):
    """Returns the post with the media of its kind and with complete coordinates, which its schema states only in text."""
    kind = post["kind"]
    allowed = {"take5": ["front", "back"], "photo": ["photo"], "marker": ["image", "video"]}.get(kind)
    if allowed is None:
        return post
    post = {name: value for name, value in post.items() if name in allowed or name not in MEDIA}
    if kind == "take5":
        post = {"front": b"front", "back": b"back", **post}
    if "image" in post:
        post.pop("video", None)
    if kind != "take5" and not any(post.get(name) for name in [*allowed, "title", "caption"]):
        post["title"] = "Here"
    for north, east in [("latitude", "longitude"), ("place_latitude", "place_longitude")]:
        if (north in post) != (east in post):
            post.pop(north, None)
            post.pop(east, None)
    if isinstance(post.get("location"), dict):
        post = {**post, "location": json.dumps(post["location"])}
        post.pop("latitude", None)
        post.pop("longitude", None)
    if "place" not in post:
        post = {name: value for name, value in post.items() if not name.startswith("place_")}
    return post


def valid_words(post):
    """Returns the post in JSON with the uploads of its kind, which its schema states only in text."""
    allowed = {"take5": ["front", "back"], "photo": ["photo"], "marker": ["image", "video"]}.get(post["kind"])
    if allowed is None:
        return post
    post = {name: value for name, value in post.items() if name in allowed or name not in MEDIA}
    if post["kind"] == "take5":
        return {**post, **{name: post.get(name) or {"upload": UNKNOWN_ID} for name in allowed}}
    if post.get("image"):
        post.pop("video", None)
    if not any(post.get(name) for name in [*allowed, "title", "caption"]):
        post["title"] = "Here"
    return post


# The lists whose parameters depend on each other.
DEPENDENT = {"/v1/collections", "/v1/map", "/v1/places", "/v1/posts", "/v1/users", "/v1/users/{id}/feed"}


def valid_filters(filters, acts):
    """Returns the filters of a list that go together; those of a feed have no author and no id."""
    filters = {name: value for name, value in filters.items() if value is not None}
    dropped = set()
    if str(filters.get("friends")).lower() == "true":
        dropped |= {"author", "id"} if acts else {"friends"}
    if "near" in filters or not {"latitude", "longitude"} <= filters.keys():
        dropped |= {"latitude", "longitude"}
    if "near" not in filters and "latitude" in dropped:
        dropped |= {"radius"} | ({"sort"} if filters.get("sort") == "distance" else set())
    author = filters.get("author") or []
    if filters.get("sort") == "taken" and ("author" in dropped or isinstance(author, list) and len(set(author)) != 1):
        dropped |= {"sort"}
    if filters.get("sort") in {"distance", "taken"}:
        dropped |= {"updated_since"}
    if "polygon" in filters:
        dropped |= {"box"}
    return {name: value for name, value in filters.items() if name not in dropped}


def valid_query(path, query, acts):
    """Returns the parameters that a request may have together, which a schema cannot say."""
    if path in {"/v1/places", "/v1/users"} and query.get("id"):
        return {"id": query["id"]}
    if path == "/v1/users":
        query = {"query": "ada", **query}
    if path == "/v1/collections":
        query = {**query, "user": SEEDS["users"]}
    return valid_filters(query, acts)


CASES = itertools.count()


def is_valid(case, location):
    """Whether a part of a case is generated as valid."""
    return case.meta is None or not case.meta.is_negative_at(location)


def is_form(case):
    """Whether a case sends the form of its operation."""
    is_declared = case.method.upper() == case.operation.method.upper()
    return is_declared and case.media_type == "multipart/form-data" and isinstance(case.body, dict)


def mark_valid(case):
    """Marks a body as valid. schemathesis validates a body again after a hook or a link has changed it, and treats every
    form with a file as invalid, because it cannot validate bytes."""
    meta = case.meta
    if meta is None or ParameterLocation.BODY not in meta.components:
        return
    meta.components[ParameterLocation.BODY] = ComponentInfo(mode=GenerationMode.POSITIVE)
    if all(component.mode.is_positive for component in meta.components.values()):
        meta.generation.mode = GenerationMode.POSITIVE


def correct(case):
    """Corrects the parts of a case that are generated as valid; invalid parts are not changed."""
    # Three of four keys are replaced: one key with different payloads would be rejected each time.
    key = "Idempotency-Key"
    if case.headers and key in case.headers and is_valid(case, ParameterLocation.HEADER) and next(CASES) % 4:
        case.headers[key] = f"case-{next(CASES)}"
    # A user who does not exist sees no private post. Without an acting user `author` must not be missing.
    if case.headers and "Take5-User" in case.headers and is_valid(case, ParameterLocation.HEADER):
        if is_valid(case, ParameterLocation.BODY):
            case.headers["Take5-User"] = SEEDS["users"]
        else:
            del case.headers["Take5-User"]
    # Without an acting user, what has an author names it, which a schema cannot say either.
    acts = USER or case.headers and "Take5-User" in case.headers
    if (case.method.upper() == "POST" and AUTHORED.fullmatch(case.path) and not acts and isinstance(case.body, dict)
            and case.body.get("author") is None and is_valid(case, ParameterLocation.BODY)):
        case.body = {**case.body, "author": SEEDS["users"]}
        mark_valid(case)
    # schemathesis sends 0 for the text of this field, and holds that to be valid.
    if case.headers and str(case.headers.get("Last-Event-ID")) == "0" and is_valid(case, ParameterLocation.HEADER):
        case.headers["Last-Event-ID"] = "12-7"
    # No user has a relation to oneself, and a schema cannot compare.
    path = case.path_parameters or {}
    if "other" in path and path["other"] == path.get("id") and is_valid(case, ParameterLocation.PATH):
        path["other"] = SEEDS["friends"]
    if case.query and "box" in case.query and is_valid(case, ParameterLocation.QUERY):
        case.query["box"] = ordered(case.query["box"])
    if case.path in DEPENDENT and case.method.upper() == "GET" and is_valid(case, ParameterLocation.QUERY):
        case.query = valid_query(case.path, case.query or {}, acts)
    # An upload is seen by the user that it belongs to.
    if case.path.startswith("/v1/uploads") and case.headers and is_valid(case, ParameterLocation.HEADER):
        case.headers.pop("Take5-User", None)
    # For want of an example of a file, schemathesis sends empty text.
    if case.media_type == "application/json" and isinstance(case.body, dict) and is_valid(case, ParameterLocation.BODY):
        unknown = {name: {"upload": UNKNOWN_ID} for name in MEDIA if case.body.get(name) == ""}
        case.body = {**case.body, **unknown}
    if case.path == "/v1/posts/search" and isinstance(case.body, dict) and is_valid(case, ParameterLocation.BODY):
        body = valid_filters(case.body, acts)
        if "polygon" in body:
            body["polygon"] = valid_area(body["polygon"])
        if "box" in body:
            body["box"] = ordered(body["box"])
        case.body = body
    if case.path == "/v1/posts" and isinstance(case.body, dict) and is_valid(case, ParameterLocation.BODY):
        if case.media_type == "multipart/form-data":
            case.body = valid_post(case.body)
            mark_valid(case)
        else:
            case.body = valid_words(case.body)
    return case


def minted_token():
    """Returns a new token of the user, which a case may revoke."""
    url = f"{os.environ['TAKE5_URL']}/v1/users/{USER}/tokens"
    headers = {"Authorization": f"Bearer {os.environ['TAKE5_API_KEY']}", "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, b"{}", headers, method="POST")) as response:
        return json.load(response)["token"]


@schemathesis.hook
def map_case(context, case):
    """Corrects a case and inserts ids that exist."""
    if case.method.upper() != "DELETE" and case.path_parameters and is_valid(case, ParameterLocation.PATH):
        for name, value in case.path_parameters.items():
            case.path_parameters[name] = existing(case.path, name, value)
    return correct(case)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Corrects examples and chains of requests, which no other hook receives. Their ids come from earlier responses."""
    if case.meta is not None and case.meta.phase.name in (TestPhase.EXAMPLES, TestPhase.STATEFUL):
        # Both are valid by design.
        if is_form(case) and is_valid_as_sent(case):
            mark_valid(case)
        correct(case)
    # Responses contain the ids of the seed data, which must not be deleted because reads need them.
    if case.method.upper() == "DELETE":
        for name, value in case.path_parameters.items():
            if value in SEEDS.values():
                case.path_parameters[name] = UNKNOWN_ID


@schemathesis.hook
def filter_case(context, case):
    """Skips forms that schemathesis classifies differently from what is sent. An invalid form can be valid as sent,
    because a number is sent as text, and an additional property that is null or an empty list is not sent. A valid form
    can be invalid, because schemathesis inserts empty text without regard to the schema."""
    return not is_form(case) or is_valid_as_sent(case) == is_valid(case, ParameterLocation.BODY)
