"""What schemathesis cannot know of the API from its document alone."""

import itertools
import json
import os

import schemathesis
from hypothesis import strategies as st
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.meta import TestPhase

# Written by run.sh: ids that exist, and a photo.
SEEDS = json.loads(os.environ["TAKE5_SEEDS"])
with open(os.environ["TAKE5_PHOTO"], "rb") as file:
    PHOTO = file.read()

# Of polygons, of rings in each, and of positions in each of these.
MOST = 8

# An id that nothing has.
NOBODY = "00000000-0000-7000-8000-000000000000"

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


CASES = itertools.count()


def is_right(case, location):
    """Whether a part of a case is meant to be right."""
    return case.meta is None or not case.meta.is_negative_at(location)


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
    """Mends the cases of chains of requests, which no other hook sees; their ids come from the answers before."""
    if case.meta is not None and case.meta.phase.name == TestPhase.STATEFUL:
        mend(case)
    # Answers tell of the ids that exist; were they deleted, nothing would be left to read.
    if case.method.upper() == "DELETE":
        for name, value in case.path_parameters.items():
            if value in SEEDS.values():
                case.path_parameters[name] = NOBODY


@schemathesis.hook
def filter_case(context, case):
    """Leaves out forms that are not what schemathesis takes them for."""
    if case.media_type != "multipart/form-data" or not isinstance(case.body, dict) or "author" not in case.body:
        return True
    author = case.body["author"]
    # In a form a number is the same text as its digits: such an author is not wrong on the wire.
    if not isinstance(author, str):
        return False
    # Its template of a form has empty text whatever the schema says, and calls that right.
    return author != "" or not is_right(case, ParameterLocation.BODY)
