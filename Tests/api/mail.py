"""Receives what the service sends to a webhook, and writes the codes into a folder, one file for each user: mail.py FOLDER

It prints its port first.
"""

import http.server
import json
import pathlib
import sys


class Mail(http.server.BaseHTTPRequestHandler):
    """Takes one message."""

    def do_POST(self):
        data = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["data"]
        letter = FOLDER / (data["receiver"] + ".new")
        letter.write_text(data["code"])
        letter.rename(FOLDER / data["receiver"])
        self.send_response(204)
        self.end_headers()

    def log_message(self, *arguments):
        """Writes nothing."""


FOLDER = pathlib.Path(sys.argv[1])
FOLDER.mkdir(exist_ok=True)
server = http.server.HTTPServer(("127.0.0.1", 0), Mail)
print(server.server_port, flush=True)
server.serve_forever()
