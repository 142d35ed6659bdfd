"""What must not harm a phone: refusals, strangers on the network, full disks, two queues of one folder."""

import contextlib
import http.server
import json
import pathlib
import signal
import threading

from phones import ratio, size
from service import Service, free_ports, wait_until


@contextlib.contextmanager
def answers(status, body, headers):
    """A server that gives each request the same answer; yields its port."""

    class Page(http.server.BaseHTTPRequestHandler):
        def answer(self):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(status)
            for name, value in (headers | {"Content-Length": str(len(body))}).items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = answer

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()


def refused(stage, secure):
    """a moment outside of the daily window is refused before its bytes are sent"""
    definitions = stage.folder / "definitions"
    if not definitions.exists():
        definitions.mkdir()
        shipped = json.loads((pathlib.Path(__file__).resolve().parents[2] / "jobs" / "take5-post.json").read_text())
        shipped |= {"name": "take5-post", "version": 100, "window": {"late": "refuse", "outside": "refuse"}}
        (definitions / "take5-post.json").write_text(json.dumps(shipped))
    service, [port] = stage.service, free_ports(1)
    folder = stage.folder / f"window-{next(stage.numbers)}"
    folder.mkdir()
    folder.chmod(0o755)
    with contextlib.closing(Service(
            stage.take5, folder, port, "--accounts", "on", "--definitions", definitions,
            "--window", "5m in 00:00-23:59 UTC")) as other, stage.link(port=port) as link:
        stage.service = other
        try:
            phone = stage.phone(link, secure=False)
            stage.sql("UPDATE window_schedule SET next_at = clock_timestamp()")
            wait_until(lambda: stage.request("/v1/window")[1]["open"], "the window opens")
            assert phone.run("window").line("window ").startswith("true ")
            clips = stage.clips()
            before = link.forwarded
            # It was recorded an hour ago.
            film = phone.run("film", *clips, "late", "3600")
            code, message, remedy = film.line("error ").split(" | ")
            assert code == "not_on_time" and message, film.lines
            assert remedy == "Record the next one while the daily window is open.", remedy
            sent = link.forwarded - before
            assert sent < 64 << 10, f"{sent} bytes were sent"
            waits = phone.run("pending")
            assert waits.line("waits ") == "failed not_on_time late", waits.lines
            assert phone.run("film", *clips, "on time").line("post ").endswith(" ready")
            return f"{sent} bytes"
        finally:
            stage.service = service


def portal(stage, secure):
    """a network that answers in place of the service costs nothing"""

    with answers(200, b"<html>Sign in to this network</html>", {"Content-Type": "text/html"}) as port, stage.link() as link, \
            stage.link(port=port) as strange:
        phone = stage.phone(link, secure=False)
        phone.through(strange)
        assert phone.run("window").line("error ").startswith("client | The answer does not come from the service"), "window"
        process = phone.start("film", *stage.clips(length=None), "portal")
        process.wait_for("phase waiting")
        process.kill()
        phone.through(link)
        assert phone.run("resume").line("pending ") == "0"
        stage.ready(phone.user, "portal")


def words(stage, secure):
    """people read what to correct, and how long to wait"""
    problem = json.dumps({"type": "urn:take5:problem:too_many_requests", "title": "Too many requests", "remedy": "Read Retry-After."})
    with answers(429, problem.encode(), {"Retry-After": "90"}) as port, stage.link() as link, stage.link(port=port) as busy:
        phone = stage.phone(link, secure=False)
        code, _, remedy = phone.run("register", "not a name", "short").line("error ").split(" | ")
        assert (code, remedy) == ("invalid_fields", "Correct the user name, the password, and try again."), remedy
        phone.through(busy)
        code, _, remedy = phone.run("window").line("error ").split(" | ")
        assert (code, remedy) == ("too_many_requests", "Wait 90 seconds, and try again."), remedy


def full(stage, secure):
    """a full disk refuses a moment as a whole"""
    with stage.link(secure) as link:
        phone = stage.phone(link, secure)
        queue = phone.folder / "queue"
        queue.mkdir()
        process = phone.start(
            "film", *stage.clips(), "full", mount=f"mount -t tmpfs -o size=64k tmpfs {queue}")
        process.end()
        code, message, remedy = process.line("error ").split(" | ")
        assert code == "client" and message.startswith("The submission cannot be stored"), process.lines
        assert "free space" in remedy, remedy
        assert not stage.posts(phone.user)


def together(stage, secure):
    """two queues of one folder submit a moment once"""
    with stage.link(secure) as link:
        phone = stage.phone(link, secure)
        clips = stage.clips()
        before = link.forwarded
        assert phone.run("together", *clips).line("pending ") == "0"
        stage.ready(phone.user, "together")
        figures = ratio(link, before, *clips)
        # Two processes.
        link.go_down()
        phone.run("queue", *clips, "two processes")
        link.go_up()
        before = link.forwarded
        processes = [phone.start("resume") for _ in range(2)]
        for process in processes:
            process.end()
        stage.ready(phone.user, "two processes")
        assert not phone.queue(), phone.queue()
        return f"{figures}, two processes {ratio(link, before, *clips)}"


def cancelled(stage, secure):
    """a moment that is cancelled leaves nothing"""
    with stage.link(secure) as link:
        phone = stage.phone(link, secure)
        # On Linux, Foundation's URLSession traps at times while a task is cancelled (FoundationNetworking's TaskRegistry.swift): again then.
        for _ in range(3):
            cancel = phone.start("cancel", *stage.clips()).ended()
            if cancel.status != -signal.SIGILL:
                break
        assert cancel.status == 0, (cancel.status, cancel.lines)
        assert cancel.line("ended ") == "cancelled" and cancel.line("pending ") == "0", cancel.lines
        wait_until(lambda: not stage.posts(phone.user), "the post is deleted")
        assert not phone.queue(), phone.queue()


def damaged(stage, secure):
    """media that are rejected say why, and others go on"""
    with stage.link(secure) as link:
        phone = stage.phone(link, secure)
        front, back = stage.clips(length=None)
        broken = stage.folder / f"broken-{next(stage.numbers)}.mp4"
        broken.write_bytes(b"this is not a clip" * 100_000)
        film = phone.run("film", broken, back, "broken")
        code, message, remedy = film.line("error ").split(" | ")
        assert code == "media_rejected" and remedy, film.lines
        # A record that is no JSON does not stop the others.
        strange = phone.folder / "queue" / "00000000-0000-4000-8000-000000000000"
        strange.mkdir()
        (strange / "record.json").write_text("{")
        phone.run("film", front, back, "sound")
        stage.ready(phone.user, "sound")


# These have a service or a network of their own.
OF_ONE_PLACE = (refused, portal, words)
TESTS = (refused, portal, words, full, together, cancelled, damaged)
