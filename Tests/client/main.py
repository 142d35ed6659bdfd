"""Drives a phone's day with a program that uses Take5Client alone, against the service, directly and through nginx with TLS:

main.py PATH-OF-take5 PATH-OF-nginx PATH-OF-phone [--only TEXT]

The phone films, its link breaks, its process and the service are killed. What it has sent is counted between both, and what has
become of it is read through the API by this program."""

import argparse
import contextlib
import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "clients"))

import attacks
import day
import phones
import sending
from proxies import Nginx
from service import Service, free_ports

SUITES = (day.TESTS, sending.TESTS, attacks.TESTS)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("take5", type=pathlib.Path)
    parser.add_argument("nginx", type=pathlib.Path)
    parser.add_argument("phone", type=pathlib.Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="take5-client-")))
        # PostgreSQL and nginx run as other users, which must be able to enter the folder.
        folder.chmod(0o755)
        [port] = free_ports(1)
        page = HERE.parent / "clients" / "upload.html"
        nginx = stack.enter_context(contextlib.closing(Nginx(options.nginx.resolve(), folder, port, page)))
        service = stack.enter_context(contextlib.closing(Service(
            options.take5.resolve(), folder, port, "--slots", "1", "--trusted-proxy", Nginx.ADDRESS, "--accounts", "on")))
        stage = phones.Stage(options.take5.resolve(), options.phone.resolve(), folder, service, nginx)
        for secure in (False, True):
            place = "through nginx with TLS" if secure else "directly"
            for test in (test for tests in SUITES for test in tests):
                name = f"{test.__doc__}, {place}"
                if options.only not in name or secure and test in attacks.OF_ONE_PLACE:
                    continue
                start = time.monotonic()
                figures = test(stage, secure) or ""
                print(f"{name}: {figures + ', ' if figures else ''}{time.monotonic() - start:.1f} s", flush=True)
    print("the phone has had its day")


main()
