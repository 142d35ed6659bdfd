#!/usr/bin/env python3
"""Measures the service against two services of Python that make the same outputs with ffmpeg.
docs/benchmarks.md, "service", describes what is measured."""

import argparse
import concurrent.futures
import copy
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
sys.path.append(str(HERE.parent / "http"))

import outputs  # noqa: E402
from client import Failure, Form, Memory  # noqa: E402
from contestants import Peer, Take5  # noqa: E402
from report import Figure, Report  # noqa: E402

PEERS = {"together": "one command", "separate": "a command an output"}
GOALS = {
    "together": {"rate": 1.5, "ready": 0.65, "first": 0.15},
    "separate": {"rate": 2.2, "ready": 0.65, "first": 0.15},
}


class Turn:
    """What one contestant shows in one round."""

    def __init__(self, contestant, form, moments, alone, definition, folder):
        try:
            contestant.start()
            # A moment that does not count: programs and files are read from the disk once.
            contestant.follow(form, "first")
            singles = [contestant.follow(form, f"alone-{index}") for index in range(alone)]
            self.first = statistics.median(single[0] for single in singles)
            self.ready = statistics.median(single[1] for single in singles)
            self._rush(contestant, form, moments, definition, folder)
        except (Failure, ValueError, OSError) as failure:
            raise SystemExit(f"{contestant.log()[-4000:]}\nbench-service: {contestant.title}: {failure}") from failure
        finally:
            contestant.stop()

    def _rush(self, contestant, form, moments, definition, folder):
        """Submits all moments at once, and waits until the last one is ready."""
        memory = Memory(contestant.processes)
        memory.start()
        before, start = contestant.cpu(), time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(moments) as clients:
            results = list(clients.map(lambda index: contestant.follow(form, f"author-{index}"), range(moments)))
        self.rate = 60 * moments / (time.monotonic() - start)
        self.cpu = (contestant.cpu() - before) / moments
        self.memory = memory.stop()
        self.first_in_rush = statistics.median(result[0] for result in results)
        for _, _, made in results:
            if made.keys() != definition["outputs"].keys():
                raise Failure(f"it made {', '.join(made)}")
        self.bytes = outputs.save(contestant, results[-1][2], folder / contestant.name, f"author-{moments - 1}")
        outputs.check(folder / contestant.name, definition)


def peers(definition, preset, root):
    """Yields the peers with the settings of a definition, or with a plain preset of x264 in their place."""
    suffix = f".{preset}" if preset else ""
    definition = copy.deepcopy(definition)
    for output in definition["outputs"].values() if preset else ():
        if "video" in output:
            output["video"] |= {"preset": preset, "x264": {}}
    path = root / f"definition{suffix}.json"
    path.write_text(json.dumps(definition))
    for variant, title in PEERS.items():
        name = variant + suffix
        yield Peer(name, f"{title}, {preset}" if preset else title, root / name, path, variant)


def figures(turns, titles):
    """Yields the figures: ratios to each peer, round by round, and then what each contestant needs by itself."""
    ours = turns["take5"]
    for name, title in titles.items():
        if name == "take5":
            continue
        theirs, goal = turns[name], GOALS.get(name, {})
        pairs = list(zip(ours, theirs))
        yield Figure(
            f"service.{name}.rate", f"moments a minute against {title}", [a.rate / b.rate for a, b in pairs], at_least=goal.get("rate"),
            details=[("take5, moments a minute", [a.rate for a in ours], 1), (f"{title}, moments a minute", [b.rate for b in theirs], 1)])
        for part, meaning in [("ready", "from the last byte to ready"), ("first", "from the last byte to the image at the client")]:
            mine, other = [getattr(a, part) for a in ours], [getattr(b, part) for b in theirs]
            yield Figure(
                f"service.{name}.{part}", f"{meaning}, alone, against {title}", [a / b for a, b in zip(mine, other)], at_most=goal.get(part),
                decimals=3, details=[("take5, s", mine, 2), (f"{title}, s", other, 2)])
    for name, title in titles.items():
        for part, meaning, decimals in [
            ("cpu", "CPU seconds a moment, with PostgreSQL", 2), ("memory", "largest memory of all processes, MB", 0),
            ("first_in_rush", "median seconds from the last byte to the image, of moments that come at once", 2)]:
            yield Figure(f"service.{name}.{part}", f"{title}: {meaning}", [getattr(turn, part) for turn in turns[name]], decimals=decimals)
        sizes = turns[name][-1].bytes
        yield Figure(
            f"service.{name}.bytes", f"{title}: kB of all outputs", [sum(sizes.values()) / 1000], decimals=0,
            details=[(role, [size / 1000], 0) for role, size in sizes.items() if not role.startswith("clip.")])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--take5", default=".build/release/take5", help="the program")
    parser.add_argument("--clips", default=".build/bench", help="the folder of the clips that 'bench --footage' makes")
    parser.add_argument("--folder", default=".build/bench", help="a folder on the disk where all files are written")
    parser.add_argument("--rounds", type=int, default=5, help="rounds, in each of which every service is measured")
    parser.add_argument("--moments", type=int, default=24, help="moments that are submitted at once")
    parser.add_argument("--alone", type=int, default=3, help="moments in each round that are submitted one by one")
    parser.add_argument("--preset", help="measures the peers also with a plain preset of x264, in place of the definition's settings")
    parser.add_argument("--write", metavar="FILE", help="replace the tables of this document")
    options = parser.parse_args()
    program, folder, clips = (pathlib.Path(path).resolve() for path in (options.take5, options.folder, options.clips))
    form = Form(clips / "front-2.mp4", clips / "back-2.mp4")
    definition = json.loads(subprocess.run([program, "definition", "show", "take5-post"], check=True, capture_output=True).stdout)
    report = Report(options.rounds, "bench-service")
    root = pathlib.Path(tempfile.mkdtemp(prefix="service-", dir=folder))
    # PostgreSQL runs as another user, which must be able to enter the folder.
    root.chmod(0o755)
    try:
        contestants = [Take5(program, root / "take5"), *peers(definition, None, root)]
        if options.preset:
            contestants += peers(definition, options.preset, root)
        turns = {contestant.name: [] for contestant in contestants}
        for number in range(options.rounds):
            # Who is first changes.
            for contestant in contestants if number % 2 == 0 else contestants[::-1]:
                turn = Turn(contestant, form, options.moments, options.alone, definition, folder / "service-outputs")
                turns[contestant.name].append(turn)
                print(f"round {number + 1}, {contestant.title}: {turn.rate:.1f} moments a minute, ready {turn.ready:.2f} s, "
                      f"image {turn.first:.2f} s, CPU {turn.cpu:.2f} s, {turn.memory:.0f} MB", flush=True)
                os.sync()
        for figure in figures(turns, {contestant.name: contestant.title for contestant in contestants}):
            report.add(figure)
    finally:
        shutil.rmtree(root)
    if options.write:
        report.write(options.write)


main()
