"""Fuzzes the HTTP API of a service of its own: main.py PATH-OF-take5 [--seconds N] [--seed N]. docs/fuzzing.md."""

import argparse
import json
import pathlib
import random
import sys
import time
import urllib.request

from actors import Actor, Cast
from document import Document
from exchange import Journal
from service import KEY, Service
from report import figures, summarize, unexplained
from stage import Stage, Walker
from world import EVERYBODY, FRIENDS, World

# The seconds from which on all operations must have succeeded, and those from which on the figures of a run are kept.
WHOLE, LONG = 60, 3600

# The seconds that a run goes on for operations that have not succeeded by chance.
EXTRA = 240


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("take5")
    arguments.add_argument("--seconds", type=int, default=60)
    arguments.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    arguments.add_argument("--threads", type=int, default=4, help="those that send one request after the other; one more sends races")
    arguments.add_argument("--write", type=pathlib.Path, help="the document that gets the figures of a run of an hour without a finding")
    options = arguments.parse_args()
    print(f"SEED={options.seed}", flush=True)
    service = Service(options.take5)
    try:
        is_good = run(service, options)
    finally:
        service.remove()
    sys.exit(0 if is_good else 1)


def run(service, options):
    with urllib.request.urlopen(f"http://127.0.0.1:{service.port}/openapi.json") as response:
        document = Document(json.load(response))
    stage = Stage(service, document, World(), Journal(), options.seed)
    set_up(stage)
    walkers = [Walker(stage, index, is_racer=index == 0) for index in range(options.threads + 1)]
    for walker in walkers:
        walker.start()
    end = time.monotonic() + options.seconds
    last = end + (EXTRA if options.seconds >= WHOLE else 0)
    while not service.has_ended() and (time.monotonic() < end or time.monotonic() < last and unexplained(stage)):
        time.sleep(0.2)
    stage.stop.set()
    for walker in walkers:
        walker.join(60)
    finish(stage)
    summarize(stage, options.seconds)
    is_good = not stage.findings.kinds and not (unexplained(stage) and options.seconds >= WHOLE)
    if is_good and options.write and options.seconds >= LONG:
        before, rest = options.write.read_text().split("<!-- fuzz-api -->\n")
        after = rest.split("<!-- end of fuzz-api -->")[1]
        options.write.write_text(f"{before}<!-- fuzz-api -->\n{figures(stage, options.seconds)}<!-- end of fuzz-api -->{after}")
    return is_good


def set_up(stage):
    """The users, with those who are blocked and suspended, what is hidden, and an account."""
    operator = Actor("the operator", KEY, address="10.0.0.1")
    ask = lambda *request: stage.ask(operator, *request)
    stage.cast = Cast(stage.service, ask, FRIENDS)
    for user in [*FRIENDS, "eve", "mallory", "oscar", "zed"]:
        ask("PUT", f"/v1/users/{user}", {"user_name": f"name-{user}"})
    for user in FRIENDS:
        ask("PUT", f"/v1/users/{user}/blocks/mallory")
        marker = stage.world.marker({user})
        post = ask("POST", "/v1/posts", {"kind": "marker", "author": user, "caption": marker})
        ask("POST", "/v1/moderation/cases", {"post": post["id"], "decision": "hide"})
        stage.world.add("hidden", {"id": post["id"]}, user, marker)
        marker = stage.world.marker(EVERYBODY, {"mallory"})
        post = ask("POST", "/v1/posts", {"kind": "marker", "author": user, "caption": marker, "place": {"id": "lake"}})
        stage.world.add("/v1/posts/{id}", {"id": post["id"]}, user, marker)
    ask("POST", "/v1/moderation/cases", {"user": "oscar", "decision": "suspend"})
    account = ask("POST", "/v1/accounts", {"user_name": "holder", "password": "correct horse"})
    stage.world.add("account", {"token": account["token"]}, account["user"])


def finish(stage):
    """Looks at the process, its log, its store and its end."""
    service, findings = stage.service, stage.findings
    if service.has_ended():
        unanswered = stage.journal.unanswered()
        findings.report(("process",), f"the process has ended with {service.process.returncode}; what was under way:", unanswered)
    else:
        if wrong := service.verify():
            findings.report(("verify",), f"take5 verify: {wrong}", [])
        if (status := service.stop()) != 0:
            findings.report(("drain",), f"the service ends with {status}", [])
    for message, line in service.complaints():
        findings.report(("log", message), f"the log has: {line}", [])


main()
