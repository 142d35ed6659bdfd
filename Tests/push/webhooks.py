"""webhooks.py TAKE5: receives the webhooks of the service and verifies them by a library of others (standardwebhooks.com)."""
import http.server
import json
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import standardwebhooks

sys.path.append(str(Path(__file__).resolve().parents[1] / "Support" / "processes"))

import take5  # noqa: E402
from take5 import wait_until  # noqa: E402

TAKE5 = Path(sys.argv[1]).resolve()


class Endpoint:
    """Verifies each message by every secret, and keeps those that it accepts, each id once."""

    def __init__(self):
        self.messages, self.refused, self.secrets, self.replies = [], [], [], []
        self.stalled = threading.Event()
        endpoint = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = endpoint.receive(dict(self.headers), body)
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/take5"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def receive(self, headers, body):
        try:
            event = [standardwebhooks.Webhook(secret).verify(body, headers) for secret in self.secrets][0]
        except standardwebhooks.WebhookVerificationError as error:
            self.refused.append(str(error))
            return 400
        reply = self.replies.pop(0) if self.replies else 204
        if reply == "stall":
            self.stalled.set()
            time.sleep(10)
        elif reply == 204 and headers["webhook-id"] not in [id for id, _ in self.messages]:
            self.messages.append((headers["webhook-id"], event))
        return 500 if reply == "stall" else reply


class Service(take5.Service):
    def __init__(self, folder):
        super().__init__(TAKE5, folder, "--webhook-permit", "127.0.0.1", "--lease", "3", "--sandbox", "available")

    def send(self, path, value, method="POST"):
        request = urllib.request.Request(
            self.url + path, None if value is None else json.dumps(value).encode(), {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request) as response:
            return json.load(response)

    def comment(self, post, text):
        return self.send(f"/v1/posts/{post}/comments", {"author": "bob", "text": text})["id"]


def main():
    with tempfile.TemporaryDirectory() as name:
        endpoint, service = Endpoint(), Service(Path(name))
        try:
            run(endpoint, service)
        except Exception:
            print(service.log.read_text()[-3000:])
            raise
        finally:
            service.stop()


def run(endpoint, service):
    webhook = service.send("/v1/webhooks", {"url": endpoint.url, "kinds": ["comment"]})
    endpoint.secrets = [webhook["secret"]]
    posts = [service.send("/v1/posts", {"kind": "marker", "author": "ada", "title": "Here"})["id"] for _ in range(3)]
    sent = {post: [] for post in posts}

    # One message fails, with a time to wait.
    endpoint.replies = [503]
    for number in range(30):
        post = posts[number % 3]
        sent[post].append(service.comment(post, f"comment {number}"))
    wait_until(lambda: len(endpoint.messages) == 30, "all messages come")

    # The worker is killed while the endpoint handles a message.
    endpoint.replies = ["stall"]
    sent[posts[0]].append(service.comment(posts[0], "before"))
    assert endpoint.stalled.wait(30), "the message comes"
    service.restart()
    sent[posts[0]].append(service.comment(posts[0], "after"))
    wait_until(lambda: len(endpoint.messages) == 32, "the messages of a worker that was killed come")

    # Both secrets verify what is sent during a rotation.
    endpoint.secrets.append(service.send(f"/v1/webhooks/{webhook['id']}/secret", None)["secret"])
    sent[posts[1]].append(service.comment(posts[1], "rotated"))
    wait_until(lambda: len(endpoint.messages) == 33, "the message with two signatures comes")

    for post in posts:
        received = [event["data"]["comment"] for _, event in endpoint.messages if event["data"]["post"] == post]
        assert received == sent[post], (received, sent[post])
    assert not endpoint.refused, endpoint.refused
    assert all(event["type"] == "comment" and event["data"]["receiver"] == "ada" for _, event in endpoint.messages)
    # Another secret verifies nothing.
    endpoint.secrets = ["whsec_" + "AAAA" * 10]
    service.comment(posts[2], "unknown")
    wait_until(lambda: endpoint.refused, "a message with another signature is refused")
    print("ok      webhooks are signed, in order for each post, and outlive their worker", flush=True)


main()
