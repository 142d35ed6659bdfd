"""Two versions on one database, and readers of events that go to and fro between their services:

versions.py PATH-OF-take5 --former PATH-OF-take5 [--rounds N] [--seed N]

Comments come through either service, and now and then one of them is killed and started again. Each reader must get each event once,
without `reset`, and so must one that comes to a service with an id of the other one."""

import argparse
import http.client
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Support" / "processes"))

from events import BUSY, Reader, judge, stored  # noqa: E402
from take5 import Service, wait_until  # noqa: E402

USER = "watched"
# How many ids each service gets of the other one in the end.
RESUMED = 4


def send(services, path, body, key):
    """Sends a submission to the services in turn until one has it; returns the record."""
    headers = {"Content-Type": "application/json", "Idempotency-Key": f'"{key}"'}

    def attempt():
        services.append(services.pop(0))
        connection = http.client.HTTPConnection(*services[0].address, timeout=30)
        try:
            connection.request("POST", path, json.dumps(body), headers)
            response = connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()
        # Another request with the key may still run.
        if response.status in (409, *BUSY):
            return None
        assert response.status < 300, f"{path}: {response.status} {text}"
        return json.loads(text)

    return wait_until(attempt, f"{path} is acknowledged", pause=0.2)


def check(readers, ask):
    """Waits until the readers have what the database has; returns what is wrong."""
    wrong = []
    for reader, start in readers:
        left = stored(ask, reader.user)
        try:
            wait_until(lambda: reader.number >= max(left, default=0), f"{reader.name}: the last event", 60)
        except AssertionError as failure:
            wrong.append(str(failure))
        reader.stop()
        wrong += [f"{reader.name}: {text}" for text in reader.wrong + judge(reader.events, left, start=start)[0]]
    return wrong


def resumed(readers, services):
    """Readers that come to a service with ids that others have got from the other one, each with the number of its id."""
    found = []
    for reader in readers:
        for service in services:
            events = [event for event in reader.events if event.source != service.address]
            for event in random.sample(events, min(RESUMED, len(events))):
                where = lambda address=service.address: address
                found.append((Reader(f"{reader.name} at {event.id}, of the other version", where, reader.user, last=event.id), event.number))
    return found


def run(options, services, data):

    def ask(sql):
        command = [options.take5.resolve(), "database", "--data", data, "--", "psql", "-XAtq", "-F", "\t", "-c", sql]
        return [line.split("\t") for line in subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()]

    anywhere = lambda: random.choice(list(services.values())).address
    stay = lambda: random.uniform(0.2, 1.5)
    users = {"all events": None, f"events of {USER}": USER}
    going = [(Reader(f"{name}, to and fro", anywhere, user, stay), 0) for name, user in users.items()]
    staying = [
        (Reader(f"{name}, at the {version} version", lambda service=service: service.address, user), 0)
        for name, user in users.items() for version, service in services.items()]
    turns = list(services.values())
    post = send(turns, "/v1/posts", {"kind": "marker", "title": "Here", "author": USER}, "post")["id"]
    comments = set()
    for number in range(options.rounds):
        comments.add(send(turns, f"/v1/posts/{post}/comments", {"author": "bob", "text": str(number)}, f"comment-{number}")["id"])
        if number % 20 == 19:
            random.choice(turns).restart()
        time.sleep(random.uniform(0, 0.3))
    wait_until(lambda: ask("SELECT count(*) FROM user_event WHERE position IS NULL") == [["0"]], "all events have positions")
    wrong = check(going + staying, ask)
    found = [content[3] for content in stored(ask, USER).values()]
    if sorted(found) != sorted(comments):
        wrong.append(f"{len(comments)} comments were acknowledged, and {len(found)} events are of {len(comments & set(found))} of them")
    others = resumed([reader for reader, _ in going], turns)
    if len({reader.where() for reader, _ in others}) < len(services):
        wrong.append("a service got no id of the other one: the run does not show what becomes of it")
    wrong += check(others, ask)
    wrong += [f"the {version} version ends with {status}" for version, service in services.items() if (status := service.stop())]
    visits = sum(reader.connections for reader, _ in going)
    print(f"{len(comments)} events, {visits} visits of readers to and fro, {len(others)} ids of the other version")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("take5", type=pathlib.Path)
    parser.add_argument("--former", type=pathlib.Path, required=True, help="the program of the version before, with its take5-media beside it")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    options = parser.parse_args()
    random.seed(options.seed)
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="take5-versions-", ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        # PostgreSQL runs as another user, which must be able to enter the folder.
        folder.chmod(0o755)
        services = {}
        try:
            # The former one makes the store, and the present one migrates it.
            for version, program in (("former", options.former), ("present", options.take5)):
                (folder / version).mkdir()
                services[version] = Service(program, folder / version, data=folder / "data")
            wrong = run(options, services, folder / "data")
        finally:
            for service in services.values():
                service.kill()
        if wrong:
            sys.exit("\n  ".join(["WRONG:", *wrong]))
    print("nothing is missed, nothing comes twice, and no reader gets `reset`")


main()
