"""What clients submit: media of different bytes each, whose requests are the same when they are repeated."""

import json
import pathlib
import random
import struct
import zlib

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "samples"
CLIPS = {camera: (SAMPLES / f"{camera}.mp4").read_bytes() for camera in ("front", "back")}
DELIMITER = "take5-cluster"
# The kinds that make no job.
JOBLESS = ("text", "comment")


def png(name, width, height, block):
    """An image of blocks of colours that follow from a name; with blocks of one pixel it is noise, which no format makes small."""
    chance = random.Random(name)
    rows = bytearray()
    for _ in range(0, height, block):
        row = b"".join(chance.randbytes(3) * block for _ in range(0, width, block)) if block > 1 else chance.randbytes(3 * width)
        rows += (b"\0" + row) * block

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(rows), 1)) + chunk(b"IEND", b"")


def clip(name, camera):
    """A sample with a box at its end that players skip (ISO/IEC 14496-12, section 8.1.2)."""
    text = name.encode()
    return CLIPS[camera] + struct.pack(">I", 8 + len(text)) + b"free" + text


def form(fields, files=()):
    """A body of multipart/form-data, and its type."""
    parts = [f'--{DELIMITER}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode() for name, value in fields.items()]
    parts += [
        f'--{DELIMITER}\r\nContent-Disposition: form-data; name="{name}"; filename="{name}"\r\n\r\n'.encode() + data + b"\r\n"
        for name, data in files]
    return b"".join(parts) + f"--{DELIMITER}--\r\n".encode(), f"multipart/form-data; boundary={DELIMITER}"


def kind_of(number):
    """The kind of a job: mostly images that cost little, and every fiftieth a moment."""
    if number % 50 == 25:
        return "moment"
    if number % 20 == 3:
        return "large photo"
    if number % 10 in (1, 6):
        return "photo in parts"
    return "photo" if number % 10 in (2, 5, 8) else "profile image"


def request_of(kind, key, post=None):
    """The method, the path, the body and the type of a submission that is one request; a comment is one on a post."""
    if kind == "profile image":
        return "PUT", f"/v1/users/{key}/profile-image", png(key, 96, 96, 12), "image/png"
    if kind == "comment":
        # Of one author: others who commented before would get an event, too.
        return "POST", f"/v1/posts/{post}/comments", json.dumps({"author": "commenter", "text": key}).encode(), "application/json"
    if kind == "text":
        return "POST", "/v1/posts", *form({"kind": "marker", "author": key, "title": key})
    if kind == "moment":
        fields = {"kind": "take5", "author": key, "caption": key}
        return "POST", "/v1/posts", *form(fields, [(camera, clip(key, camera)) for camera in ("front", "back")])
    size = (1100, 800, 1) if kind == "large photo" else (120, 96, 12)
    return "POST", "/v1/posts", *form({"kind": "photo", "author": key, "caption": key}, [("photo", png(key, *size))])
