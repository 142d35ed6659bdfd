#!/usr/bin/env python3
"""Takes out, one at a time, each room that no other one needs, and compiles what remains: a room is a folder, and a line.

By .ci/arrows.txt only the list in Rooms.swift uses such a room. For each, a copy of the sources loses the folder, the names of the room in that
list and its SQL in the table of embedded files. Then the module 'Rooms' is compiled, with the arguments and against
the modules of 'make test'. Where what the program has of the room is a 'RoomProgram', the copy loses its file too and its name in
AllCommands.swift, and the program is compiled.
Usage: main.py BUILD_FOLDER [ROOM... | --day NUMBER]
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
TIMEOUT = 900  # seconds


def leaves():
    """The rooms to which no other unit has an arrow than the list of all rooms."""
    with open(f"{ROOT}/.ci/arrows.txt", encoding="utf-8") as file:
        arrows = re.findall(r"^Rooms: (\S+) -> (\S+)$", file.read(), re.M)
    users = {}
    for here, there in arrows:
        users.setdefault(there, set()).add(here)
    return sorted(room for room, by in users.items() if by == {"(Rooms.swift)"} and not room.startswith("("))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def swift(folder):
    """The Swift files in a folder and its folders."""
    return sorted(os.path.join(here, name) for here, _, names in os.walk(folder) for name in names if name.endswith(".swift"))


def strike(path, pattern, what):
    """Strikes what the pattern matches from a file; returns how often it does."""
    text, count = re.subn(pattern, "", read(path))
    if not count:
        raise SystemExit(f"{os.path.basename(path)} does not name {what}")
    write(path, text)
    return count


def take_out(room, sources):
    """Takes a room out of a copy of the sources; returns the number of its files, the struck names by file, and whether the program's part
    of it was one file."""
    folder, lines = f"{sources}/Rooms/{room}", []
    texts = [read(path) for path in swift(folder)]
    files = sum(len(names) for _, _, names in os.walk(folder))
    types = {name for text in texts for name in re.findall(r"^(?:package )?(?:final )?(?:struct|enum|class|actor|protocol) (\w+)", text, re.M)}
    listed = f"{sources}/Rooms/Rooms.swift"
    for name in sorted(types):
        place = rf"\b{name}(?:\.self|\(kit: kit[^)]*\)),[ ]?"
        if re.search(place, read(listed)):
            lines.append(("Rooms.swift", strike(listed, place, name)))
    embedded, header = f"{sources}/Rooms/SQL/files.c", f"{sources}/Rooms/SQL/include/rooms_sql.h"
    block = rf'  \.(\w+) = {{\(const char\[\]\){{\n#embed "\.\./{room}/[^\n]*\n  }}}},\n'
    if names := re.findall(block, read(embedded)):
        lines.append(("files.c", strike(embedded, block, room)))
        for name in names:
            strike(header, rf"\b{name}\b,\s*|,\s*\b{name}\b(?=;)", name)
        lines.append(("rooms_sql.h", len(names)))
    shutil.rmtree(folder)

    commands = f"{sources}/take5/Commands/{room}.swift"
    if os.path.exists(commands):
        for name in re.findall(r"^extension RoomProgram {\n  static let (\w+) ", read(commands), re.M):
            lines.append(("AllCommands.swift", strike(f"{sources}/take5/Commands/AllCommands.swift", rf"\.{name}\b,?[ ]?", name)))
            os.remove(commands)
            return files + 1, lines, True
    return files, lines, False


class Compiler:
    """Compiles modules of a copy of the sources, as the build folder's manifest says."""

    # What names other files to write, and what is of no use without them: alone, and with the argument behind it.
    ALONE = {"-emit-dependencies", "-c", "-serialize-diagnostics", "-parseable-output", "-emit-objc-header"}
    PAIRS = {"-emit-module-path", "-output-file-map", "-emit-objc-header-path"}

    def __init__(self, build):
        with open(f"{build}/release.yaml", encoding="utf-8") as file:
            self.manifest = file.read()
        self.target = re.search(r'"C\.Rooms-(.*?)\.module":', self.manifest).group(1)

    def arguments(self, module, folder):
        start = self.manifest.index("args: ", self.manifest.index(f'"C.{module}-{self.target}.module":')) + len("args: ")
        given = iter(json.loads(self.manifest[start:self.manifest.index("\n", start)]))
        own, last = [], ""
        for argument in given:
            if argument in self.PAIRS:
                next(given)
            elif argument.endswith("/CRoomsSQL.build/module.modulemap"):
                own.append(f"-fmodule-map-file={folder}/module.modulemap")
            elif argument not in self.ALONE and not argument.startswith("@"):
                # The modules that were compiled here go before the modules of the build folder.
                if argument == "-I" and last != "-Xcc":
                    own += ["-I", folder]
                own.append(argument.replace(f"{ROOT}/Sources/Rooms/SQL", f"{folder}/Sources/Rooms/SQL"))
            last = argument
        return own

    def errors(self, module, folder):
        """Compiles a module into the folder; returns what is wrong."""
        sources = f"{folder}/Sources/{module}"
        write(f"{folder}/module.modulemap", f'module CRoomsSQL {{\n  umbrella "{folder}/Sources/Rooms/SQL/include"\n  export *\n}}\n')
        write(f"{folder}/{module}.sources", "".join(f"{path}\n" for path in swift(sources)))
        made = ["-emit-module-path", f"{folder}/{module}.swiftmodule", f"@{folder}/{module}.sources"]
        # Without code, and with the bodies of all functions checked.
        done = subprocess.run(
            self.arguments(module, folder) + made, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT)
        if not done.returncode:
            return []
        return sorted({line.replace(f"{folder}/", "") for line in done.stdout.splitlines() if ": error: " in line}) or [done.stdout[-2000:]]

    def embedded_errors(self, folder):
        """Compiles the table of embedded SQL; returns what is wrong."""
        clang = os.path.join(os.path.dirname(self.arguments("Rooms", folder)[0]), "clang")
        done = subprocess.run(
            [clang, "-fsyntax-only", "-I", f"{folder}/Sources/Rooms/SQL/include", "-I", f"{folder}/Sources/CSystem/include",
             f"{folder}/Sources/Rooms/SQL/files.c"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT)
        return done.stdout.splitlines() if done.returncode else []


def check(room, compiler):
    """Whether what remains without a room compiles."""
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        for name in ("Rooms", "take5", "CSystem"):
            shutil.copytree(f"{ROOT}/Sources/{name}", f"{folder}/Sources/{name}")
        files, lines, is_whole = take_out(room, f"{folder}/Sources")
        modules = ["Rooms", "take5"] if is_whole else ["Rooms"]
        errors = compiler.embedded_errors(folder)
        for module in modules:
            errors = errors or compiler.errors(module, folder)
    for error in errors:
        print(f"  {error}")
    struck = ", ".join(f"{count} in {name}" for name, count in lines)
    print(f"{room}: {files} files are deleted, and names are struck, {struck}: {', '.join(modules)}"
          + (": errors" if errors else ": compiled") + " without them", flush=True)
    return not errors


def main(arguments):
    build, names = os.path.abspath(arguments[0]), arguments[1:]
    rooms = leaves()
    if len(names) == 2 and names[0] == "--day":
        names = [rooms[int(names[1]) % len(rooms)]] if rooms else []
    if not rooms or not set(names) <= set(rooms):
        raise SystemExit(f"the rooms that no other one needs are {', '.join(rooms) or 'none'}")
    compiler = Compiler(build)
    failed = [room for room in names or rooms if not check(room, compiler)]
    print(f"{len(names or rooms) - len(failed)} of {len(names or rooms)} rooms can be taken out")
    return 1 if failed else 0


sys.exit(main(sys.argv[1:]))
