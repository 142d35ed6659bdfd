"""Requests that pages of others send with the cookie of an operator: they read nothing and change nothing."""

import contextlib
import http.server
import json
import threading

from console import Console, Page, opened

# What the browser says of the attempts.
REFUSED = ("CORS policy", "net::ERR_FAILED", "net::ERR_BLOCKED_BY_RESPONSE", "status of 40[0-9]", "Content Security Policy",
           "X-Frame-Options", "policy: ")

PAGE = b"""<!doctype html><meta charset="utf-8"><title>Prizes</title><iframe name="hidden"></iframe><script src="attack.js"></script>"""

# Each attempt returns what the page learns of the response.
ATTACK = """
async function attempt(url, options) {
  try {
    const response = await fetch(url, { credentials: "include", ...options })
    return { type: response.type, status: response.status, text: await response.text() }
  } catch (error) { return { error: error.name } }
}

/** Sends a form as a browser does, into a frame; resolves once there is a response. */
function submit(url, fields, type = "application/x-www-form-urlencoded") {
  const form = document.createElement("form")
  Object.assign(form, { method: "post", action: url, target: "hidden", enctype: type })
  for (const [name, value] of Object.entries(fields)) {
    const input = document.createElement("input")
    Object.assign(input, { name, value })
    form.append(input)
  }
  document.body.append(form)
  return new Promise(resolve => {
    document.querySelector("iframe").addEventListener("load", () => resolve(true), { once: true })
    form.submit()
  })
}
"""


class Attacker(http.server.BaseHTTPRequestHandler):
    """The site of someone else."""

    def do_GET(self):
        data, kind = (ATTACK.encode(), "text/javascript") if self.path.endswith(".js") else (PAGE, "text/html")
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def attacker():
    """The port of the site."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Attacker)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with contextlib.closing(server.socket):
        yield server.server_port
        server.shutdown()


def state_of(content, post, job):
    """All that the attempts would change."""
    return [content.request("GET", f"/v1/posts/{post}")["title"], content.request("GET", f"/v1/jobs/{job}")["state"],
            content.request("GET", "/v1/posts?author=thief")["items"], content.request("GET", "/v1/webhooks?limit=100")["items"]]


def requests(stage):
    """a form and a fetch of another page, with the cookie of the operator, read nothing and change nothing"""
    content = stage.content
    post, job = content.marker(content.new("author"), title="Mine")["id"], content.job("scheduled", author=content.new("author"))
    before = state_of(content, post, job)
    own = {"Take5-Console": "1"}
    # Another port of the same site, to which a browser sends even a strict cookie; and another site.
    with attacker() as port, opened(Console(stage), REFUSED) as console:
        for host in ("127.0.0.1", "localhost"):
            page = console.context.new_page()
            page.goto(f"http://{host}:{port}/")
            service = stage.service.url
            simple = [
                (f"/v1/jobs/{job}/cancel", {"method": "POST"}), ("/v1/jobs", {}), ("/v1/operations", {}),
                ("/console/session", {}), ("/v1/posts", {
                    "method": "POST", "headers": {"Content-Type": "text/plain"}, "body": '{"kind":"marker","author":"thief","title":"x"}'}),
                ("/v1/webhooks", {"method": "POST", "headers": {"Content-Type": "text/plain"},
                                  "body": '{"url":"https://thief.example","kinds":["post_ready"]}'}),
            ]
            special = [(path, {**options, "headers": {**options.get("headers", {}), **own}}) for path, options in simple]
            special += [(f"/v1/posts/{post}", {"method": "DELETE", "headers": own}),
                        (f"/v1/posts/{post}", {"method": "PATCH", "headers": {**own, "Content-Type": "application/json"},
                                               "body": '{"title":"stolen"}'}),
                        (f"/v1/posts/{post}", {"method": "DELETE"}), ("/metrics", {"headers": own})]
            for path, options in simple + special:
                result = page.evaluate("([url, options]) => attempt(url, options)", [service + path, options])
                assert result == {"error": "TypeError"}, (host, path, options, result)
            for path, options in simple:
                options = {**options, "mode": "no-cors"}
                result = page.evaluate("([url, options]) => attempt(url, options)", [service + path, options])
                assert result == {"type": "opaque", "status": 0, "text": ""}, (host, path, options, result)
            for path, fields in ((f"/v1/jobs/{job}/cancel", {}), ("/v1/posts", {"kind": "marker", "author": "thief", "title": "x"})):
                for kind in ("application/x-www-form-urlencoded", "multipart/form-data", "text/plain"):
                    page.evaluate("([url, fields, kind]) => submit(url, fields, kind)", [service + path, fields, kind])
            page.close()
        assert state_of(content, post, job) == before
        # The sign-in itself is untouched.
        console.go("jobs")
        console.check(REFUSED)


def frames(stage):
    """a page of another origin cannot show the console in a frame"""
    with attacker() as port, opened(Page(stage), REFUSED) as page:
        page.page.goto(f"http://127.0.0.1:{port}/")
        page.page.evaluate("""url => new Promise(resolve => {
            const frame = document.querySelector("iframe")
            frame.addEventListener("load", resolve, { once: true })
            frame.src = url
        })""", f"{stage.service.url}/console")
        [frame] = page.page.frames[1:]
        assert "take5" not in frame.content(), frame.content()


def policy(stage):
    """the pages permit no script, style or address of elsewhere, and the files no other use"""
    with opened(Page(stage)) as page:
        for path in ("/console", "/film", "/client.js", "/console/app.js"):
            response = page.context.request.get(stage.service.url + path)
            policy = response.headers["content-security-policy"]
            for part in ("default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "base-uri 'none'",
                         "form-action 'none'", "frame-ancestors 'none'"):
                assert part in policy, (path, policy)
            assert "unsafe" not in policy and response.headers["x-content-type-options"] == "nosniff", response.headers
        page.page.goto(f"{stage.service.url}/console")
        result = page.page.evaluate("""(async () => {
            const script = document.createElement("script")
            script.textContent = "window.ran = true"
            document.body.append(script)
            const sent = await fetch("https://example.org/").then(() => "sent", error => error.name)
            const before = [window.ran ?? null, sent]
            return JSON.stringify(before)
        })()""")
        assert json.loads(result) == [None, "TypeError"], result
        page.check(("policy: ", "Content Security Policy", "example.org"))
        page.errors.clear()


TESTS = (requests, frames, policy)
