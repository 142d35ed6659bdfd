"""Small media: images that this program makes, and the samples."""

import pathlib
import random
import struct
import zlib

import values

SAMPLES = pathlib.Path(__file__).resolve().parents[3] / "samples"
CLIPS = {camera: (SAMPLES / f"{camera}.mp4").read_bytes() for camera in ("front", "back")}
DELIMITER = "take5-fuzz"


def png(name, edge=32):
    """An image whose colours follow from a name, so that each has bytes of its own."""
    chance = random.Random(name)
    color = chance.randbytes(3)
    rows = (b"\0" + color * edge) * (edge - 1) + b"\0" + chance.randbytes(3 * edge)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", edge, edge, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")


def clip(name, camera):
    """A sample with a box at its end that players skip (ISO/IEC 14496-12, section 8.1.2)."""
    return CLIPS[camera] + struct.pack(">I", 8 + len(name)) + b"free" + name.encode()


def broken(data, chance):
    """An image of which something is wrong."""
    position = chance.randrange(8, len(data))
    return chance.choice([
        lambda: data[:position], lambda: data[:position] + b"\xff\xff\xff\xff" + data[position + 4:], lambda: b"", lambda: b"GIF89a",
        lambda: data[:16] + b"\x7f\xff\xff\xff" * 2 + data[24:],
    ])()


# The parts of a form that have files.
NAMES = ["front", "back", "photo", "image", "video"]


def submission(content, chance, extremes):
    """A form with the fields and the files of some content, and its type; with extremes some files are broken, and fields unknown."""
    content = content if isinstance(content, dict) else {}
    fields = [(name, value) for name, value in content.items() if name not in NAMES and value is not None]
    files = []
    for name in [name for name in NAMES if name in content]:
        serial = str(chance.random())
        data = png(serial) if name in ("photo", "image") else clip(serial, "back" if name == "back" else "front")
        files.append((name, broken(data, chance) if extremes and chance.random() < 0.5 else data))
    if extremes and chance.random() < 0.2:
        fields.append((chance.choice(values.TEXTS).replace("\n", "").replace('"', ""), chance.choice(values.TEXTS)))
    return form(fields, files)


def form(fields, files):
    """A body of multipart/form-data, and its type."""
    parts = []
    for name, value in fields:
        head = f'--{DELIMITER}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
        parts.append(f"{head}{value}\r\n".encode("utf-8", "surrogatepass"))
    for name, data in files:
        head = f'--{DELIMITER}\r\nContent-Disposition: form-data; name="{name}"; filename="{name}"\r\n\r\n'
        parts.append(head.encode("utf-8", "surrogatepass") + data + b"\r\n")
    return b"".join(parts) + f"--{DELIMITER}--\r\n".encode(), f"multipart/form-data; boundary={DELIMITER}"
