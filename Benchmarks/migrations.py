#!/usr/bin/env python3
"""Measures what each migration takes in a database with a million posts: 'make bench-migrations'.

It applies the migrations one after the other to a server of its own, as psql does: each within a transaction. The rows come
with the first versions of their tables, so that each later migration meets all of them.
"""

import argparse
import datetime
import glob
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

# What is inserted after a migration; foreign keys and triggers do not look at it. Half of the posts lie in one of 200 cities.
ROWS = {
    7: """
INSERT INTO job_done (id, public_id, queue, kind, outcome, attempt, max_attempts, lost, created_at, arguments, result)
SELECT n, gen_random_uuid(), 'media', 'take5', 'a', 1, 5, 0, now() - n * interval '80 seconds', '{}',
  '{"offset": {"seconds": 0.1, "confidence": 0.9}}' FROM generate_series(1, :posts) n;
INSERT INTO job_dead (id, public_id, queue, kind, priority, attempt, max_attempts, lost, deadline_seconds, created_at, arguments)
SELECT n, gen_random_uuid(), 'media', 'take5', 5, 5, 5, 0, 600, now(), '{}' FROM generate_series(1, :posts / 100) n;
""",
    101: """
INSERT INTO blob (hash, bytes) SELECT sha256(n::text::bytea), 1000 FROM generate_series(1, 1000) n;
INSERT INTO asset_set (public_id) SELECT gen_random_uuid() FROM generate_series(1, 2 * :posts);
INSERT INTO asset (public_id, asset_set_id, role, blob, type, bytes)
SELECT gen_random_uuid(), n, role, sha256((n % 1000 + 1)::text::bytea), 'image/jpeg', 1000
FROM generate_series(1, 2 * :posts) n, unnest(ARRAY['a', 'b', 'c']) role;
INSERT INTO post (public_id, kind, status, author, visibility, place_id, latitude, longitude, foreground, created_at,
  job, source_set_id, asset_set_id)
SELECT gen_random_uuid(), 'take5', 'ready', 'user' || n % (:posts / 10), 'public', 'place' || n % (:posts / 50),
  CASE WHEN n % 2 = 0 THEN n % 400 / 4 - 50 + random() / 8 END, CASE WHEN n % 2 = 0 THEN n % 400 / 8 + random() / 8 END, 'front',
  now() - n * interval '80 seconds', gen_random_uuid(), n, :posts + n
FROM generate_series(1, :posts) n;
INSERT INTO image (public_id, kind, owner, post_id, author, status)
SELECT gen_random_uuid(), 'reaction', 'post', n, 'user' || n % 1000, 'ready' FROM generate_series(1, :posts / 2) n;
""",
    102: """
INSERT INTO comment (public_id, post_id, author, text)
SELECT gen_random_uuid(), n, 'user' || n % 1000, 'text' FROM generate_series(1, :posts) n;
""",
}


class Server:
    """A PostgreSQL server of its own, in a folder that goes with it."""

    def __init__(self):
        self.programs = max(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
        self.folder = tempfile.mkdtemp(prefix="take5-migrations-")
        os.chmod(self.folder, 0o755)
        # PostgreSQL does not run as root.
        self.user = "postgres" if os.geteuid() == 0 else None
        if self.user:
            shutil.chown(self.folder, self.user)
        self.call("initdb", "--pgdata", f"{self.folder}/data", "--auth", "trust", "--no-sync")
        options = f"-c listen_addresses= -c unix_socket_directories={self.folder} -c max_wal_size=8GB"
        self.call("pg_ctl", "--wait", "--log", f"{self.folder}/log", "--pgdata", f"{self.folder}/data", "--options", options, "start")

    def call(self, program, *arguments, text=None):
        subprocess.run(
            [f"{self.programs}/{program}", *arguments], input=text, text=True, check=True, user=self.user, cwd="/",
            stdout=subprocess.DEVNULL)

    def run(self, script, *options):
        self.call(
            "psql", "--quiet", "--no-psqlrc", "--host", self.folder, "--dbname", "postgres", "--set", "ON_ERROR_STOP=1", *options,
            text=script)

    def end(self):
        self.call("pg_ctl", "--wait", "--mode", "immediate", "--pgdata", f"{self.folder}/data", "stop")
        shutil.rmtree(self.folder)


def measured(server, posts):
    """The seconds of each migration, by its number and name."""
    seconds = {}
    files = pathlib.Path(__file__).parent.parent.glob("Sources/*/SQL/v*.sql")
    for path in sorted(files, key=lambda path: path.name):
        number, name = re.fullmatch(r"v0*(\d+)_(\w+)", path.stem).groups()
        begin = time.monotonic()
        server.run(path.read_text(), "--single-transaction")
        seconds[f"{number} {name}"] = time.monotonic() - begin
        if int(number) in ROWS:
            server.run(f"SET session_replication_role = replica; {ROWS[int(number)]}", "--set", f"posts={posts}")
            server.run("ANALYZE")
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--posts", type=int, default=1_000_000)
    parser.add_argument("--write", metavar="FILE", help="replaces the figures in this document")
    options = parser.parse_args()
    server = Server()
    try:
        seconds = measured(server, options.posts)
    finally:
        server.end()
    slow = {name: value for name, value in seconds.items() if value >= 1}
    lines = ["| migration | seconds |", "|---|---|", *(f"| {name} | {value:.0f} |" for name, value in slow.items())]
    others = sum(seconds.values()) - sum(slow.values())
    lines += [f"| the {len(seconds) - len(slow)} others together | {others:.0f} |"]
    table = f"{datetime.date.today()}, {os.cpu_count()} cores, {options.posts:,} posts.\n\n" + "\n".join(lines) + "\n"
    print(table)
    if options.write:
        path = pathlib.Path(options.write)
        head, tail = "<!-- written by 'make bench-migrations': begin -->\n", "<!-- written by 'make bench-migrations': end -->"
        text = path.read_text()
        path.write_text(text[: text.index(head) + len(head)] + "\n" + table + "\n" + text[text.index(tail) :])


main()
