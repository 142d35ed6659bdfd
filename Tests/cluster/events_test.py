#!/usr/bin/env python3
"""What readers of events get, and what `judge` says of it: `make test-cluster` begins with it."""

import http.server
import pathlib
import sys
import threading
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parent))

from events import Event, Reader, judge  # noqa: E402


def about(number):
    return ("ada", "comment", "post", str(number))


def events(*numbers):
    """Events; a text is the time of a `reset`."""
    return [
        Event("reset", 0, None, int(number)) if isinstance(number, str) else Event("comment", number, about(number)) for number in numbers]


def rows(*numbers):
    return {number: about(number) for number in numbers}


class Judge(unittest.TestCase):
    def check(self, got, left, *expected, histories=(), start=0, forgotten=()):
        wrong, lost = judge(got, left, histories, start)
        self.assertEqual(len(wrong), len(expected), wrong)
        for text, part in zip(wrong, expected):
            self.assertIn(part, text)
        self.assertEqual(lost, set(forgotten))

    def test_one_history(self):
        self.check(events(1, 2, 3), rows(1, 2, 3))
        self.check(events(1, 3), rows(1, 2, 3), "1 events are missing")
        self.check(events(1, 2), rows(1, 2, 3), "missing, such as [3]")
        self.check(events(2, 3), rows(1, 2, 3), start=1)
        self.check(events(1, 2, 2, 3), rows(1, 2, 3), "2 comes after 2", "comes twice")
        self.check(events(1, 3, 2), rows(1, 2, 3), "2 comes after 3")
        self.check(events(1, "1", 2), rows(1, 2), "1 times `reset`")
        self.check(events(1, 2), rows(1), "has forgotten nothing", forgotten=[2])

    def test_what_a_number_means(self):
        self.check([Event("comment", 1, about(9))], rows(1), "1 is ('ada', 'comment', 'post', '9')")
        self.check([*events(1), Event("comment", 2, about(1))], {1: about(1), 2: about(1)}, "comes twice")

    def test_histories(self):
        left, histories = rows(1, 2, 3, 101, 102), [(100, 1)]
        self.check(events(1, 2, 3, 4, 5, "1", 101, 102), left, histories=histories, forgotten=[4, 5])
        # It had not got what is left, and gets it after the `reset`.
        self.check(events(1, "1", 2, 3, 101, 102), left, histories=histories)
        self.check(events(1, 2, 3, 101, 102), left, "without `reset`", histories=histories)
        self.check(events(1, 2, 3, "0", 101, 102), left, "without `reset`", histories=histories)
        self.check(events(1, 2, 3, 4, "1", 102), left, "missing, such as [101]", histories=histories, forgotten=[4])
        self.check(events(1, 2, "1", 101, 102), left, "missing, such as [3]", histories=histories)
        self.check(events(1, 2, 3, "1", 4, 101, 102), left, "after `reset`", histories=histories, forgotten=[4])
        self.check(events(1, 2, 3, "1", "1", 101, 102), left, "2 times `reset`", histories=histories)
        # What is lost is the end of a history, and nothing before it.
        self.check(events(1, 2, 3, "1", 101), rows(1, 3, 101), "has forgotten nothing", histories=histories, forgotten=[2])
        self.check(events(1, 2, 3, "1", 101, 102, 103), left, "has forgotten nothing", histories=histories, forgotten=[103])

    def test_what_happens_again(self):
        again, histories = Event("comment", 101, about(4)), [(100, 1)]
        self.check([*events(1, 4, "1"), again], {1: about(1), 101: about(4)}, histories=histories, forgotten=[4])
        self.check([*events(1, 4, "1"), again], {1: about(1), 4: about(4), 101: about(4)}, "comes twice", histories=histories)
        self.check(
            [*events(1, 4), again._replace(number=5), *events("1", 101)], rows(1, 101), "comes twice", histories=histories, forgotten=[4, 5])

    def test_several_histories(self):
        left, histories = rows(1, 101, 201), [(100, 1), (200, 2)]
        self.check(events(1, 2, "1", 101, 102, "2", 201), left, histories=histories, forgotten=[2, 102])
        # One that was away while both began gets one `reset`.
        self.check(events(1, 2, "2", 101, 201), left, histories=histories, forgotten=[2])
        self.check(events(1, 2, "1", 101, 201), left, "201 is of another history", histories=histories, forgotten=[2])
        self.check(events(1, "1", "2", 201), rows(1, 201), histories=histories)
        self.check(events(1, 2, "1", 102, "2", 201), rows(1, 201), histories=histories, forgotten=[2, 102])
        self.check(events(1, 2, "2", 102, 201), rows(1, 201), "102, which is forgotten", histories=histories, forgotten=[2, 102])


class Stream(http.server.BaseHTTPRequestHandler):
    """Sends two events and a part of one; what comes next is the rest."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        last = int(self.headers["Last-Event-ID"].split("-")[0])
        self.server.ids.append(self.headers["Last-Event-ID"])
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.send(b":\n\n")
        for number in range(last + 1, min(last + 3, 6)):
            self.send(b'id: %d-7\nevent: comment\ndata: {"kind":"comment","post":"p","comment":"%d"}\n\n' % (number, number))
        self.send(b'id: %d-7\nevent: comm' % (last + 3))
        self.close_connection = True

    def send(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def log_message(self, *_):
        pass


class Reading(unittest.TestCase):
    def test_it_comes_back_with_its_last_id(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stream)
        server.ids = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        reader = Reader("test", lambda: server.server_address, user="ada")
        end = time.monotonic() + 30
        while len(server.ids) < 5 and time.monotonic() < end:
            time.sleep(0.05)
        reader.stop()
        server.shutdown()
        server.server_close()
        self.assertEqual(server.ids[:5], ["0-0", "2-7", "4-7", "5-7", "5-7"])
        self.assertEqual(reader.wrong, [])
        left = {number: ("ada", "comment", "p", str(number)) for number in range(1, 6)}
        self.assertEqual(judge(reader.events, left), ([], set()))


if __name__ == "__main__":
    unittest.main()
