#!/usr/bin/env python3
"""Measures what HTTP costs: uploads against nginx and openssl, small reads against pgbench, and a crowd of slow uploads.
docs/benchmarks.md, "http", describes what is measured."""

import argparse
import pathlib
import shutil
import tempfile

import crowd
import reading
import uploading
from report import Report


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--take5", default=".build/release/take5", help="the program")
    parser.add_argument("--nginx", default="/usr/sbin/nginx", help="nginx with its module for WebDAV")
    parser.add_argument("--folder", default=".build/bench", help="a folder on the disk where all files are written")
    parser.add_argument("--runs", type=int, default=5, help="runs of each comparison; a crowd has three at most")
    parser.add_argument("--only", choices=["upload", "read", "crowd"], action="append", help="measure a part")
    parser.add_argument("--write", metavar="FILE", help="replace the tables of this document")
    options = parser.parse_args()
    take5, nginx, folder = (pathlib.Path(path).resolve() for path in (options.take5, options.nginx, options.folder))
    parts = options.only or ["upload", "read", "crowd"]
    report = Report(options.runs)
    folder.mkdir(parents=True, exist_ok=True)
    root = pathlib.Path(tempfile.mkdtemp(prefix="http-", dir=folder))
    # PostgreSQL runs as another user, which must be able to enter the folder.
    root.chmod(0o755)
    try:
        for part in parts:
            (root / part).mkdir(mode=0o755)
        if "upload" in parts:
            uploading.measure(report, take5, nginx, root / "upload", options.runs)
        if "read" in parts:
            reading.measure(report, take5, root / "read", options.runs)
        if "crowd" in parts:
            crowd.measure(report, take5, root / "crowd", min(options.runs, 3))
    finally:
        shutil.rmtree(root)
    if options.write:
        report.write(options.write)


main()
