"""What schemathesis cannot know of the API from its document alone."""

import itertools
import json
import os
import re

import schemathesis
from hypothesis import strategies as st
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation import GenerationMode
from schemathesis.generation.meta import ComponentInfo, TestPhase

# Written by run.sh: ids that exist, and a photo.
SEEDS = json.loads(os.environ["TAKE5_SEEDS"])
with open(os.environ["TAKE5_PHOTO"], "rb") as file:
    PHOTO = file.read()

# Of polygons, of rings in each, and of positions in each of these.
MOST = 8

# An id that nothing has.
NOBODY = "00000000-0000-7000-8000-000000000000"

# A number and a time as a form has them.
NUMBER = re.compile(r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\Z")
TIME = re.compile(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})\Z")

# Bytes of an image: a true photo, so that jobs are made and done, or anything.
for media_type in ["image/jpeg", "image/heic", "image/avif", "image/png", "image/webp"]:
    schemathesis.openapi.media_type(media_type, st.just(PHOTO) | st.binary(min_size=1, max_size=64))

# The names that a database of time zones has; a schema cannot list them all.
schemathesis.openapi.format("time-zone", st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"]))


def existing(path, name, value):
    """Every other id is one that exists."""
    seed = SEEDS.get(path + "#" + name)
    return seed if seed and isinstance(value, str) and len(value.rstrip("02468ace")) < len(value) else value


def ordered(box):
    """A box has its south below its north: a schema cannot compare."""
    numbers = box.split(",") if isinstance(box, str) else box
    if not isinstance(numbers, list) or len(numbers) != 4:
        return box
    west, south, east, north = numbers
    if float(south) > float(north):
        south, north = north, south
    return ",".join([west, south, east, north]) if isinstance(box, str) else [west, south, east, north]


def closed(ring):
    """Closes a ring, which a schema cannot ask for, and halves its width: so it cannot go around a pole."""
    return [[position[0] / 2, *position[1:]] for position in [*ring[:-1][:MOST], ring[0]]]


def sound(area):
    """A polygon or several of them, all rings closed; few enough, as a schema cannot say how many they are together."""
    is_one = area["type"] == "Polygon"
    polygons = [area["coordinates"]] if is_one else area["coordinates"][:MOST]
    polygons = [[closed(ring) for ring in polygon[:MOST]] for polygon in polygons]
    return {**area, "coordinates": polygons[0] if is_one else polygons}


def resolved(document, schema):
    """What a schema says, or the one that it refers to."""
    for name in schema.get("$ref", "#").split("/")[1:]:
        document = document[name]
    return document if "$ref" in schema else schema


def fits(schema, text):
    """Whether the text of a part is what its schema asks for."""
    if schema.get("format") == "binary":
        return True
    if "enum" in schema:
        return text in schema["enum"]
    if schema["type"] == "number":
        return NUMBER.match(text) is not None and schema["minimum"] <= float(text) <= schema["maximum"]
    if schema.get("format") == "date-time":
        return TIME.match(text) is not None
    return schema.get("minLength", 0) <= len(text) <= schema["maxLength"] and "\0" not in text


def is_right_as_sent(case):
    """Whether a form is right as its parts are sent: nothing is no part, and a list is a part for each of its items."""
    document = case.operation.schema.raw_schema
    content = document["paths"][case.path][case.method.lower()]["requestBody"]["content"]
    form = resolved(document, content["multipart/form-data"]["schema"])
    sent = set()
    for name, value in case.body.items():
        if name not in form["properties"] and value not in (None, []):
            return False
        schema = resolved(document, form["properties"].get(name, {}))
        parts = [part for part in (value if isinstance(value, list) else [value]) if part is not None]
        if len(parts) > schema.get("maxItems", 1):
            return False
        sent.update([name] if parts else [])
        if not all(fits(schema.get("items", schema), str(part)) for part in parts):
            return False
    return sent.issuperset(form["required"])


def of_its_kind(post):
    """A post with the media that its kind needs, and with what belongs together, which its schema says in words."""
    kind = post["kind"]
    allowed = {"take5": ["front", "back"], "photo": ["photo"], "marker": ["image", "video"]}.get(kind)
    if allowed is None:
        return post
    media = {"front", "back", "photo", "image", "video"}
    post = {name: value for name, value in post.items() if name in allowed or name not in media}
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
    if "place" not in post:
        post = {name: value for name, value in post.items() if not name.startswith("place_")}
    return post


CASES = itertools.count()


def is_right(case, location):
    """Whether a part of a case is meant to be right."""
    return case.meta is None or not case.meta.is_negative_at(location)


def is_form(case):
    """Whether a case sends the form of its operation."""
    is_declared = case.method.upper() == case.operation.method.upper()
    return is_declared and case.media_type == "multipart/form-data" and isinstance(case.body, dict)


def keep_right(case):
    """Calls a body right: schemathesis judges a body anew that a hook or a link has touched, and since it cannot validate
    bytes, it calls every form with a file wrong."""
    meta = case.meta
    if meta is None or ParameterLocation.BODY not in meta.components:
        return
    meta.components[ParameterLocation.BODY] = ComponentInfo(mode=GenerationMode.POSITIVE)
    if all(component.mode.is_positive for component in meta.components.values()):
        meta.generation.mode = GenerationMode.POSITIVE


def mend(case):
    """Makes right what is meant to be right; what is meant to be wrong stays as it is."""
    # Three of four keys are new ones: the same example with ever new payloads would be refused each time.
    key = "Idempotency-Key"
    if case.headers and key in case.headers and is_right(case, ParameterLocation.HEADER) and next(CASES) % 4:
        case.headers[key] = f"case-{next(CASES)}"
    if case.query and "box" in case.query and is_right(case, ParameterLocation.QUERY):
        case.query["box"] = ordered(case.query["box"])
    if case.path == "/v1/posts/search" and isinstance(case.body, dict) and is_right(case, ParameterLocation.BODY):
        case.body = {**case.body, "polygon": sound(case.body["polygon"])}
    if case.path == "/v1/posts" and isinstance(case.body, dict) and is_right(case, ParameterLocation.BODY):
        if case.media_type == "multipart/form-data":
            case.body = of_its_kind(case.body)
            keep_right(case)
        elif not (case.body.get("title") or case.body.get("caption")):
            case.body = {**case.body, "title": "Here"}
    return case


@schemathesis.hook
def map_case(context, case):
    """Mends a case and gives it ids that exist."""
    if case.method.upper() != "DELETE" and case.path_parameters and is_right(case, ParameterLocation.PATH):
        for name, value in case.path_parameters.items():
            case.path_parameters[name] = existing(case.path, name, value)
    return mend(case)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Mends examples and the cases of chains of requests, which no other hook sees; ids come from the answers before."""
    if case.meta is not None and case.meta.phase.name in (TestPhase.EXAMPLES, TestPhase.STATEFUL):
        # Both are right by design.
        if is_form(case) and is_right_as_sent(case):
            keep_right(case)
        mend(case)
    # Answers tell of the ids that exist; were they deleted, nothing would be left to read.
    if case.method.upper() == "DELETE":
        for name, value in case.path_parameters.items():
            if value in SEEDS.values():
                case.path_parameters[name] = NOBODY


@schemathesis.hook
def filter_case(context, case):
    """Leaves out forms that are not what schemathesis takes them for: wrong ones that are right as they are sent, since a
    number is the same text as its digits, and an additional property that is null or an empty list is no part at all;
    and right ones that are wrong, since its template of a form has empty text whatever the schema says."""
    return not is_form(case) or is_right_as_sent(case) == is_right(case, ParameterLocation.BODY)
