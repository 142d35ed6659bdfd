"""Checks that a moment has all outputs of its definition, in the same sizes and playable, with the eyes of ffprobe."""

import json
import pathlib
import struct
import subprocess

from commands import NAMES, Commands


def probe(path):
    """Returns the streams of a file; all frames of it are decoded."""
    command = ["ffprobe", "-v", "error", "-count_frames", "-show_streams", "-show_format", "-of", "json", path]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode or done.stderr:
        raise ValueError(f"{path.name} cannot be decoded: {done.stderr.strip()}")
    return json.loads(done.stdout)


def animation(path):
    """Returns the size of an animated WebP, its frames and its milliseconds (RFC 9649, 2.7): ffmpeg 5.1 cannot decode one."""
    content, position, frames, duration, size = path.read_bytes(), 12, 0, 0, None
    if content[:4] != b"RIFF" or content[8:12] != b"WEBP":
        raise ValueError(f"{path.name} is not a WebP")
    while position + 8 <= len(content):
        kind, length = struct.unpack_from("<4sI", content, position)
        chunk = content[position + 8:position + 8 + length]
        if kind == b"VP8X":
            size = tuple(1 + int.from_bytes(chunk[start:start + 3], "little") for start in (4, 7))
        elif kind == b"ANMF":
            frames, duration = frames + 1, duration + int.from_bytes(chunk[12:15], "little")
        position += 8 + length + length % 2
    return size, frames, duration


def check(folder, definition):
    """Fails if an output of the definition is missing, or is not what it must be."""
    sizes = Commands(definition).size
    for role, output in definition["outputs"].items():
        path = folder / NAMES[role]
        expected = sizes(output.get("long_edge", max(definition["canvas"]["width"], definition["canvas"]["height"])))
        if role == "preview":
            size, frames, milliseconds = animation(path)
            count = output["seconds"] * output["frames_per_second"]
            # A frame that equals the one before is none of its own.
            right = count - 2 <= frames <= count and abs(milliseconds - 1000 * output["seconds"]) <= 150
        else:
            found = probe(path)
            video = next(stream for stream in found["streams"] if stream["codec_type"] == "video")
            size, frames = (video["width"], video["height"]), int(video["nb_read_frames"])
            if "at" in output:
                right = frames == 1 and video["codec_name"] == "mjpeg"
            else:
                kinds = sorted(stream["codec_name"] for stream in found["streams"])
                right = kinds == ["aac", "h264"] and abs(float(found["format"]["duration"]) - 5) < 0.1 and 148 <= frames <= 151
                right = right and path.read_bytes().find(b"moov") < path.read_bytes().find(b"mdat")
        if size != expected or not right:
            raise ValueError(f"{role} is {size} with {frames} frames, not {expected} as it must be")


def save(contestant, outputs, folder, author):
    """Writes the outputs of a moment into a folder; returns their bytes by role."""
    folder.mkdir(parents=True, exist_ok=True)
    sizes = {}
    for role, output in outputs.items():
        content = contestant.fetch(output, {"Take5-User": author})
        pathlib.Path(folder / NAMES[role]).write_bytes(content)
        sizes[role] = len(content)
    return sizes
