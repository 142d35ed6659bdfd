"""What the benchmark uploads: the samples with a box of chance at the end, so that all files are valid and no two are equal."""

import os
import pathlib
import struct

SAMPLES = pathlib.Path(__file__).parents[2] / "samples"


class Content:
    """Bytes in segments: what is the same for all files exists once, however many are sent at a time."""

    def __init__(self, segments):
        self.segments = [memoryview(segment) for segment in segments]

    def __len__(self):
        return sum(map(len, self.segments))

    def bytes(self, start=0, count=None):
        """Returns a part of the bytes, or all."""
        end, parts = len(self) if count is None else start + count, []
        for segment in self.segments:
            parts.append(segment[max(start, 0):max(end, 0)])
            start, end = start - len(segment), end - len(segment)
        return b"".join(parts)


class Clip:
    """A clip that a box of type `free` makes as long as is wanted (ISO/IEC 14496-12, section 8.1.2)."""

    UNIQUE = 16

    def __init__(self, name, size=None):
        clip = (SAMPLES / name).read_bytes()
        box = 8 + self.UNIQUE if size is None else size - len(clip)
        self._common = clip + struct.pack(">I4s", box, b"free") + os.urandom(box - 8 - self.UNIQUE)

    def new(self):
        """Returns a new file."""
        return Content([self._common, os.urandom(self.UNIQUE)])


class Moment:
    """The form of a moment: both samples, or other clips, and the fields, as curl sends them."""

    BOUNDARY = "------------------------d74496d66958873e"

    def __init__(self, paths=None):
        self._clips = {name: Clip((paths or {}).get(name, f"{name}.mp4")) for name in ("front", "back")}
        self.headers = {"Content-Type": f"multipart/form-data; boundary={self.BOUNDARY}"}

    def new(self, author):
        """Returns a new form."""
        segments = []
        for name, value in {"kind": "take5", "author": author, "foreground": "front"}.items():
            segments.append(f'--{self.BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode())
        for name, clip in self._clips.items():
            disposition = f'Content-Disposition: form-data; name="{name}"; filename="{name}.mp4"'
            segments.append(f"--{self.BOUNDARY}\r\n{disposition}\r\nContent-Type: video/mp4\r\n\r\n".encode())
            segments += clip.new().segments + [b"\r\n"]
        return Content(segments + [f"--{self.BOUNDARY}--\r\n".encode()])
