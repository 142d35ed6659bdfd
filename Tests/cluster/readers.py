"""The readers of a run: back-ends that read the events of all users, and clients that read the events of one."""

import random
import time

from events import Reader, judge, stored
from services import KEY


class Readers:
    """Some stay while their connection does, and others leave after some seconds; all come back with the last id."""

    def __init__(self, network, user):
        leaves = lambda: random.uniform(0.5, 8)
        kinds = [("all", None, None), ("all", None, None), ("all, leaves", None, leaves), ("one user", user, None), ("one user, leaves", user, leaves)]
        self.readers = [
            Reader(name, lambda: (network["proxy"].address, 80), of, stay, KEY, network["client"].enter) for name, of, stay in kinds]

    def finish(self, ask, histories, seconds=120):
        """Waits until the readers have what the database has; returns what is wrong."""
        wrong, end = [], time.monotonic() + seconds
        self.forgotten = []
        for reader in self.readers:
            left = stored(ask, reader.user)
            while reader.number < max(left, default=0) and time.monotonic() < end:
                time.sleep(0.2)
            reader.stop()
            texts, forgotten = judge(reader.events, left, histories)
            self.forgotten.append(len(forgotten))
            wrong += [f"reader of {reader.name}: {text}" for text in reader.wrong + texts]
        if histories and not any(self.forgotten):
            wrong.append("no reader got an event that was forgotten: the run does not show what becomes of it")
        return wrong

    def summary(self):
        def of(values):
            values = sorted(values)
            return f"{values[0]} to {values[-1]}" if values[0] < values[-1] else str(values[0])

        counts = lambda is_counted: [sum(map(is_counted, reader.events)) for reader in self.readers]
        return (f"{len(self.readers)}, which connected {of(reader.connections for reader in self.readers)} times, and got "
                f"{of(counts(lambda event: event.name not in ('reset', 'start')))} events, of which {of(self.forgotten)} were forgotten, and"
                f" {of(counts(lambda event: event.name == 'reset'))} times `reset`")
