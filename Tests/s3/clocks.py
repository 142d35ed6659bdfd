"""The wall clock of programs, which a test steps while they run: the library ClockSkew of the build is preloaded into them."""

import pathlib
import shutil
import struct

# Two hours back and forward, and right again.
STEPS = (-7200, 0, 7200)


class Clock:
    """A clock in a folder that the programs can read, with a library of the folder of take5."""

    def __init__(self, folder, take5):
        folder.mkdir()
        library = shutil.copy(pathlib.Path(take5).resolve().with_name("libClockSkew.so"), folder)
        self.file = folder / "skew"
        self.file.write_bytes(struct.pack("q", 0))
        for path in (folder, library, self.file):
            pathlib.Path(path).chmod(0o755)
        self.environment = {"LD_PRELOAD": str(library), "TAKE5_CLOCK_SKEW_FILE": str(self.file)}

    def step(self, seconds):
        """Sets what the clock is ahead of the machine's. The file stays the same: programs have mapped it."""
        with self.file.open("r+b") as file:
            file.write(struct.pack("q", seconds))

    def postgres(self, folder):
        """The environment of a process that starts PostgreSQL, whose clock it is then."""
        programs = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
        folder.mkdir()
        folder.chmod(0o755)
        (folder / "initdb").symlink_to(programs / "initdb")
        settings = " ".join(f"{name}='{value}'" for name, value in self.environment.items())
        (folder / "postgres").write_text(f'#!/bin/sh\n{settings} exec {programs}/postgres "$@"\n')
        (folder / "postgres").chmod(0o755)
        return {"TAKE5_POSTGRES_BIN": str(folder)}
