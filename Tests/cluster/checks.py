"""What must hold after all faults have healed."""

import collections

from machines import wait_until
from submissions import JOBLESS


# Where what is submitted has its row, unless it is a post.
TABLES = {"profile image": "images", "comment": "comments"}


def texts(rows):
    return [row[0] for row in rows]


class Checks:
    def __init__(self, database, ledger):
        self.ask = lambda sql: database.primary.ask(sql, "take5")
        self.ledger, self.wrong, self.forgotten = ledger, list(ledger.violations), collections.Counter()

    def fail(self, text, items=()):
        """Adds what is wrong, with some of the items."""
        items = list(items)
        if items or text.endswith("."):
            self.wrong.append(f"{text} {len(items)}, such as {items[:5]}" if items else text)

    def wait_for_jobs(self, seconds):
        """Waits until no job is left but dead ones, and no post waits for an upload: the last byte may be acknowledged, and its job lost."""
        left = "SELECT (SELECT count(*) FROM job) + (SELECT count(*) FROM awaited_upload)"
        try:
            wait_until(lambda: self.ask(left) == [["0"]], "all jobs end", seconds, 0.5)
        except TimeoutError as failure:
            self.wrong.append(str(failure))

    def check(self):
        acknowledged = self.ledger.acknowledged
        posts = self.ask("SELECT coalesce(caption, title), public_id, status, reasons FROM post")
        images = self.ask("SELECT owner, public_id, status, reasons FROM image")
        comments = self.ask("SELECT text, public_id FROM comment")
        rows = posts + images
        jobs, shown = 0, set()
        for name, records in (("posts", posts), ("images", images), ("comments", comments)):
            found = collections.Counter(record[0] for record in records)
            expected = {}
            for key, record in acknowledged.items():
                if TABLES.get(record.kind, "posts") != name:
                    continue
                if key not in found and (losses := self.ledger.losses_of(key)):
                    self.forgotten[record.kind] += 1
                    shown.update(losses)
                else:
                    expected[key] = record.id
                    jobs += record.kind not in JOBLESS
            ids = {record[0]: record[1] for record in records}
            self.fail(f"acknowledged {name} that do not exist:", sorted(expected.keys() - found.keys()))
            self.fail(f"{name} that were not acknowledged:", sorted(found.keys() - expected.keys()))
            self.fail(f"{name} that exist more than once:", [key for key, count in found.items() if count > 1])
            self.fail(f"{name} that have another id than the acknowledged one:",
                      [key for key, id in expected.items() if key in ids and ids[key] != id])
        self.fail("times in which nothing was forgotten, which show nothing:", set(self.ledger.losses) - shown)
        self.fail("posts and images that are not ready:", [" ".join(row) for row in rows if row[2] != "ready"])
        self.fail("dead jobs:", texts(self.ask("SELECT public_id || ' ' || coalesce(last_error, '') FROM job_dead")))
        self.fail("jobs that ended more than once:", texts(self.ask(
            "SELECT public_id FROM job_done GROUP BY public_id HAVING count(*) > 1")))
        self.fail("jobs that did not complete:", texts(self.ask(
            # A first look comes too late if the outputs are there, after an attempt that was lost with a connection.
            "SELECT public_id || ' ' || outcome::text FROM job_done WHERE outcome <> 'a' AND (kind, outcome) <> ('look', 'c')")))
        self.fail("jobs with outputs of more than one attempt:", texts(self.ask(
            "SELECT job FROM asset_set WHERE definition IS NOT NULL AND job IS NOT NULL GROUP BY job HAVING count(*) > 1")))
        self.fail("outputs that were replaced, though nothing was made again:", texts(self.ask(
            # A first look is replaced by the outputs.
            "SELECT public_id FROM asset_set WHERE (replaced_by IS NOT NULL OR retired_at IS NOT NULL)"
            " AND NOT EXISTS (SELECT FROM job_done WHERE job_done.kind = 'look' AND job_done.public_id = asset_set.job)")))
        done = int(self.ask("SELECT count(*) FROM job_done WHERE kind IN ('post', 'image')")[0][0])
        if done != jobs:
            self.wrong.append(f"{done} jobs have ended, {jobs} were acknowledged")
        self.fail("comments and posts without an event, or with several:", [" ".join(row) for row in self.ask(
            "SELECT comment.public_id, count(event.subject) FROM comment"
            " LEFT JOIN user_event AS event ON event.kind = 'comment' AND event.subject = comment.public_id"
            " GROUP BY comment.public_id HAVING count(event.subject) <> 1"
            " UNION ALL SELECT post.public_id, count(event.post) FROM post"
            " LEFT JOIN user_event AS event ON event.kind = 'post_ready' AND event.post = post.public_id"
            " WHERE post.kind <> 'marker' GROUP BY post.public_id HAVING count(event.post) <> 1")])
        answers = int(self.ask("SELECT count(*) FROM idempotent_answer")[0][0])
        if answers > len(acknowledged):
            self.wrong.append(f"{answers} responses are stored for repetitions of {len(acknowledged)} submissions")

    def figures(self):
        names = ("attempts", "lost", "retried")
        row = self.ask("SELECT coalesce(sum(attempt), 0), coalesce(sum(lost), 0), count(*) FILTER (WHERE attempt > 1 OR lost > 0) FROM job_done")[0]
        return dict(zip(names, map(int, row)))
