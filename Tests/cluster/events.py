"""Readers of events, which stay or leave and come back with their last id; and what each must have got in the end."""

import collections
import contextlib
import http.client
import json
import random
import socket
import threading
import time

# `content` says what an event is about, without its number; `source` is the address of the service.
Event = collections.namedtuple("Event", "name number content time source id", defaults=(0, None, None))
# Of a stream, which sends something every 15 seconds.
TIMEOUT = 40
# What a reader repeats; any other status but 200 is wrong.
BUSY = (408, 429, 500, 502, 503, 504)


class Reader:
    """A client that reads the events of a user, or of all. `where` returns the host and the port of its next connection, and `stay` for
    how long it is read, in seconds; nothing: to its end. `enter` is called by its thread first."""

    def __init__(self, name, where, user=None, stay=None, key=None, enter=None, last="0-0"):
        self.name, self.where, self.user, self.stay, self.enter, self.last = name, where, user, stay, enter, last
        self.headers = {**({"Authorization": f"Bearer {key}"} if key else {}), **({"Take5-User": user} if user else {})}
        self.events, self.connections, self.wrong, self.ends = [], 0, [], threading.Event()
        self.socket = None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        if self.enter:
            self.enter()
        while not self.ends.is_set():
            try:
                self.read()
            except (OSError, http.client.HTTPException):
                pass
            except Exception as failure:
                self.wrong.append(repr(failure))
            self.ends.wait(random.uniform(0.1, 0.6))

    def read(self):
        source = self.where()
        connection = http.client.HTTPConnection(*source, timeout=TIMEOUT)
        try:
            connection.connect()
            self.socket = connection.sock
            connection.request("GET", "/v1/events", headers={**self.headers, "Last-Event-ID": self.last})
            response = connection.getresponse()
            if response.status != 200:
                if response.status not in BUSY:
                    self.wrong.append(f"{self.last} gets {response.status}: {response.read(400)}")
                return
            self.connections += 1
            end, fields = time.monotonic() + 1e9, {}
            if self.stay:
                seconds = self.stay()
                self.socket.settimeout(seconds)
                end = time.monotonic() + seconds
            while (line := response.readline()) and not self.ends.is_set() and time.monotonic() < end:
                name, _, value = line.decode().rstrip("\r\n").partition(": ")
                if name and value:
                    fields[name] = value
                elif not name and not value:
                    # An event that was cut before its empty line is none.
                    self.note(fields, source)
                    fields = {}
        finally:
            connection.close()

    def note(self, fields, source):
        if "event" not in fields or fields["event"].startswith("window_"):
            return
        self.events.append(Event(
            fields["event"], int(fields["id"].split("-")[0]), content(json.loads(fields["data"]), self.user),
            time.monotonic(), source, fields["id"]))
        self.last = fields["id"]

    @property
    def number(self):
        return self.events[-1].number if self.events else 0

    def stop(self):
        self.ends.set()
        # Between two events it waits in the socket.
        with contextlib.suppress(OSError, AttributeError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join(TIMEOUT + 5)


def content(data, user=None):
    """What an event is about; of a user's own stream, which does not say whose it is, with the user."""
    subject = next((data[name] for name in ("comment", "image", "collection", "case") if data.get(name)), None)
    return (user or data.get("receiver") or "", data.get("kind", ""), data.get("post") or "", subject or "")


def stored(ask, user=None):
    """The events of all, or of a user, by their numbers; `ask` returns the rows of a query."""
    number, condition = ("number", f"user_id = '{user}'") if user else ("position", "position IS NOT NULL")
    rows = ask(f"SELECT {number}, user_id, kind, coalesce(post::text, ''), coalesce(subject::text, '') FROM user_event WHERE {condition}")
    return {int(row[0]): tuple(row[1:]) for row in rows}


def judge(events, left, histories=(), start=0):
    """Returns what is wrong with the events that a reader has got, and the numbers of those that the database has forgotten.

    `left` has what the database has in the end, by number; `histories` the number after which each history but the first begins, and the
    time before which no reader can know it. A history ends with what is forgotten: a reader may have it until the `reset` of the next."""
    bounds = [0, *(after for after, _ in histories)]
    history = lambda number: sum(number > bound for bound in bounds[1:])
    last_left = [max((number for number in left if history(number) == index), default=bound) for index, bound in enumerate(bounds)]
    wrong, forgotten, received, numbers = [], set(), set(), {}
    position, known, resets = start, history(start), 0
    for event in events:
        number = event.number
        if event.name == "reset":
            resets, known = resets + 1, max(known, sum(began <= event.time for _, began in histories))
        if event.name in ("reset", "start"):
            continue
        if number <= position:
            wrong.append(f"{number} comes after {position}")
        if history(number) > known:
            wrong.append(f"{number} is of another history, without `reset`")
        position, known = max(position, number), max(known, history(number))
        if number not in left:
            forgotten.add(number)
            if history(number) == len(histories) or number <= last_left[history(number)]:
                wrong.append(f"{number} is none of the database, which has forgotten nothing there")
            elif history(number) < known:
                wrong.append(f"{number}, which is forgotten, comes after `reset`")
        elif left[number] != event.content:
            wrong.append(f"{number} is {event.content}, and {left[number]} in the database")
        former = numbers.get(event.content)
        # What was forgotten may happen again, in a later history.
        if former and (former in left or history(former) == history(number)):
            wrong.append(f"{event.content} comes twice, as {former} and {number}")
        numbers[event.content] = number
        received.add(number)
    if resets > len(histories):
        wrong.append(f"{resets} times `reset`, and {len(histories)} histories began")
    if missing := sorted(number for number in left.keys() - received if number > start):
        wrong.append(f"{len(missing)} events are missing, such as {missing[:5]}")
    return wrong, forgotten
