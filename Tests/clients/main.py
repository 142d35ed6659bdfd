"""Sends uploads with clients that others wrote, Chromium among them, and with raw requests, through kills of the service and
cuts of the network, directly and through nginx:

main.py PATH-OF-take5 PATH-OF-nginx [--only TEXT] [--screenshots FOLDER]

Each test sends a file of 20 MB; then the bytes are compared with those on the disk. `--only` runs the tests whose names
contain a text, and `--screenshots` stores what Chromium shows."""

import argparse
import contextlib
import functools
import pathlib
import tempfile
import time

import browser
import drafts
import interim
import programs
import refusals
from proxies import Nginx
from service import Service, clip, free_ports
from wire import request

HERE = pathlib.Path(__file__).resolve().parent


def tests(service, nginx, folder, screenshots):
    """Yields the tests: a name, and a function that sends bytes and returns the URL of the upload, or None if it has compared
    them itself."""
    for place, url in [("directly", service.url), ("through nginx", nginx.url)]:
        for name, send in [
            ("tuspy", programs.through_tuspy), ("aiotus", programs.through_aiotus),
            ("raw requests of the current draft", drafts.through_current_draft),
            ("raw requests of the draft of iOS 17", drafts.through_draft_of_ios),
        ]:
            yield f"{name}, {place}, with the service killed in the middle", functools.partial(send, service, url)
        yield f"a wrong offset, {place}", functools.partial(drafts.refuses_wrong_offset, url)
    yield "the cost of a file that is refused", lambda _: refusals.costs_little(service.url)
    yield from interim.tests(service, nginx)
    yield from browser.tests(service, nginx, folder, screenshots)


def run(service, name, send):
    start = time.monotonic()
    bytes = clip(name)
    if location := send(bytes):
        assert service.file(location).read_bytes() == bytes, f"{name}: other bytes"
        status = request(service.url, "DELETE", drafts.path_of(location), {}).status
        assert status == 204, status
    print(f"{name}: {time.monotonic() - start:.1f} s", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("take5", type=pathlib.Path)
    parser.add_argument("nginx", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--screenshots", type=pathlib.Path)
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="take5-clients-")))
        # PostgreSQL and nginx run as other users, which must be able to enter the folder.
        folder.chmod(0o755)
        [port] = free_ports(1)
        nginx = stack.enter_context(
            contextlib.closing(Nginx(options.nginx.resolve(), folder, port, HERE / "upload.html")))
        service = stack.enter_context(contextlib.closing(Service(
            options.take5.resolve(), folder, port, "--slots", "1", "--trusted-proxy", Nginx.ADDRESS,
            "--allow-origin", f"{nginx.origin},{nginx.plain_origin}")))
        for name, send in tests(service, nginx, folder, options.screenshots):
            if options.only in name:
                run(service, name, send)
    print("all uploads are whole")


main()
