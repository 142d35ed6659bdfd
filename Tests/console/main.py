"""Drives the console in browsers, on a real service with real media: what operators and moderators see and do, with every kind of
key, what strangers try, and what the page costs.

main.py PATH-OF-take5 [--only TEXT] [--screenshots FOLDER]

Each test has a page of its own, and makes what it needs on one service for all. `--only` runs the tests whose names contain a text,
and `--screenshots` stores what the browser shows."""

import argparse
import contextlib
import functools
import os
import pathlib
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
# The service and its samples are those of the clients.
sys.path.append(str(HERE.parent / "clients"))

from playwright.sync_api import sync_playwright

import client
import film
import firefox
import first_app
import forgery
import inside
import jobs
import lasting
import moments
import now
import outage
import people
import permissions
import questions
import reach
import scripts
import signing
import smooth
import store
import submitting
from content import Content
from service import Service, free_ports

GROUPS = (client, signing, now, outage, submitting, moments, inside, jobs, store, people, permissions, forgery, scripts, questions, reach,
          lasting, smooth, film, first_app, firefox)

# Posts and users of the tests have a field of their own.
FIELDS = """{ "name": "fields", "version": 1, "posts": { "genre": { "type": "text" } }, "users": { "motto": { "type": "text" } } }"""


class Stage:
    """What the tests share: the service with its content, the browser, and the folder of pictures."""

    def __init__(self, options, stack):
        self.screenshots, self.number = options.screenshots, 0
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="take5-console-")))
        # PostgreSQL runs as another user, which must be able to enter the folder.
        self.folder.chmod(0o755)
        (self.folder / "definitions").mkdir()
        (self.folder / "definitions" / "fields.json").write_text(FIELDS)
        [port] = free_ports(1)
        program = options.take5.resolve()
        self.service = stack.enter_context(contextlib.closing(Service(
            program, self.folder, port, "--slots", "2", "--definitions", self.folder / "definitions", "--webhook-permit",
            "127.0.0.1", "--address-attempts", "10000", "--author-submissions", "100000")))
        self.content = Content(program, self.service)
        self.playwright = stack.enter_context(sync_playwright())

    @functools.cached_property
    def browser(self):
        return self.playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"] if os.geteuid() == 0 else [])

    def figure(self, name, value, bound=""):
        """Prints what a test has measured."""
        print(f"figure console.{name} {value}{f', at most {bound}' if bound else ''}", flush=True)


def tests():
    """Yields the tests: a name, and a function that gets the stage."""
    for group in GROUPS:
        for test in group.TESTS:
            yield f"{group.__name__}: {test.__doc__.partition(chr(10))[0].rstrip('.')}", test


def run(name, test, stage):
    """Runs a test; returns whether it has passed."""
    start, result = time.monotonic(), "passed"
    try:
        test(stage)
    except Exception:
        traceback.print_exc()
        result = "FAILED"
    print(f"{result}: {name}: {time.monotonic() - start:.1f} s", flush=True)
    return result == "passed"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("take5", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--quarter", type=int, help="run each fourth test alone, from that with this number on")
    parser.add_argument("--screenshots", type=pathlib.Path)
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        stage = Stage(options, stack)
        chosen = [(name, test) for name, test in tests() if options.only in name]
        if options.quarter is not None:
            chosen = chosen[options.quarter % 4::4]
        failed = [name for name, test in chosen if not run(name, test, stage)]
    print(f"{len(chosen) - len(failed)} of {len(chosen)} tests passed", *failed, sep="\n  ")
    sys.exit(bool(failed) or not chosen)


main()
