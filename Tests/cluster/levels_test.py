#!/usr/bin/env python3
"""What is too much in the end, and which faults are at a process: `make test-cluster` begins with it."""

import collections
import itertools
import os
import pathlib
import random
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parent))

from faults import APIS, WEIGHTS, WORKERS, Fault, Weather, draw  # noqa: E402
from levels import growth_of, levels, resident, too_large, unmeasured, wait_for_levels, waiting  # noqa: E402
from machines import NAMES  # noqa: E402


class Levels(unittest.TestCase):
    def test_tables(self):
        self.assertEqual(waiting()["user_event"], "position IS NULL")
        self.assertGreater(len(waiting()), 10)
        names = sorted(levels(lambda sql: [["0"] * sql.count("count(*)")]))
        now = lambda sql: [["3" if name == "job" else "0" for name in names]]
        self.assertEqual(wait_for_levels(now, dict.fromkeys(names, 3), 5), [])
        self.assertEqual(wait_for_levels(now, dict.fromkeys(names, 2), 0.1), ["job has 3 rows, and had 2"])

    def test_growth(self):
        grows = lambda seconds, rate: [(1000 + at, 50e6 + rate * at) for at in range(0, seconds, 2)]
        self.assertIsNone(growth_of(grows(200, 1e5)))
        for rate, is_large in ((1e3, False), (1e5, True)):
            # It is warm after a minute.
            samples = [(1000, 1e6), *grows(1000, rate)]
            self.assertEqual(bool(too_large({("api-2", "take5", 1): growth_of(samples)})), is_large)
        # What is small may grow.
        self.assertEqual(too_large({("api-2", "take5", 1): (1e6, 9e6)}), [])
        measured = {("api-2", "take5", 1): (1e6, 9e6)}
        self.assertEqual(unmeasured(measured, ("api-2", "worker-2"), 600), ["nothing is known of the memory of worker-2 in 600 s"])
        self.assertEqual(unmeasured({}, ("api-2", "worker-2"), 300), [])
        self.assertGreater(resident(os.getpid()), 1e6)
        self.assertIsNone(resident(1 << 30))


class Drawing(unittest.TestCase):
    PAIRS = list(itertools.combinations(NAMES, 2))

    def test_kinds(self):
        for count, has_bucket in itertools.product((20, 200, 500), (True, False)):
            plan = draw(1, count, self.PAIRS, has_bucket)
            kinds = collections.Counter(fault.kind for fault in plan)
            self.assertEqual(len(plan), count)
            self.assertGreater(len(kinds), 4)
            self.assertEqual(has_bucket or not any("store" in str(fault) or "cache" in str(fault) for fault in plan), True)
        self.assertEqual(set(kinds), {kind for kind in WEIGHTS if "store" not in kind and "cache" not in kind})
        self.assertEqual(len({fault.target for fault in draw(1, 200, self.PAIRS, True) if fault.kind == "cut"} & set(self.PAIRS)), len(self.PAIRS))

    def test_who_is_struck(self):
        Named = collections.namedtuple("Named", "name")
        weather = Weather(None, {name: Named(name) for name in (*APIS, *WORKERS, "proxy")}, None, None, [], None)
        chance = random.Random(1)

        def struck(kind):
            found = set()
            for _ in range(40):
                weather.running = [Fault(kind, None, chance)]
                found |= set(filter(weather.is_struck, APIS + WORKERS))
            return found

        self.assertEqual(struck("freeze api"), set(APIS))
        self.assertEqual(struck("step worker"), set(WORKERS))
        # The other ones live to the end.
        self.assertEqual(struck("kill api"), {"api-1"})
        self.assertEqual(struck("kill PostgreSQL") | struck("terminate") | struck("kill media") | struck("freeze proxy"), set())


if __name__ == "__main__":
    unittest.main()
