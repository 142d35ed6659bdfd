"""Firefox, driven by WebDriver BiDi (w3.org/TR/webdriver-bidi): signs in, shows Now and a post, and plays its video."""

import base64
import contextlib
import json
import os
import re
import subprocess
import tempfile

from websockets.sync.client import connect

from console import difference
from service import KEY, TIMEOUT

ENTER = "\ue007"


class Firefox:
    """A browser with one page."""

    def __init__(self, folder):
        # The browser writes more than the profile where it is at home.
        self.home = tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            ["firefox-esr", "--headless", "--no-remote", "--remote-debugging-port=0", "--profile", self.home.name],
            env={**os.environ, "HOME": self.home.name}, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        for line in self.process.stderr:
            if found := re.search(r"WebDriver BiDi listening on (ws://\S+)", line):
                break
        else:
            raise AssertionError("Firefox did not start")
        # What it writes from now on must not fill the pipe.
        self.drain = subprocess.Popen(["cat"], stdin=self.process.stderr, stdout=subprocess.DEVNULL)
        self.socket = connect(f"{found[1]}/session", max_size=None)
        self.number, self.errors = 0, []
        self.call("session.new", capabilities={})
        self.call("session.subscribe", events=["log.entryAdded"])
        self.context = self.call("browsingContext.getTree")["contexts"][0]["context"]
        self.call("browsingContext.setViewport", context=self.context, viewport={"width": 1280, "height": 900})

    def call(self, method, **parameters):
        """Calls a method, and returns its result."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while (reply := json.loads(self.socket.recv(timeout=2 * TIMEOUT))).get("id") != self.number:
            if reply.get("method") == "log.entryAdded" and reply["params"]["level"] == "error":
                self.errors.append(reply["params"]["text"])
        assert reply["type"] == "success", (method, reply)
        return reply["result"]

    def open(self, url):
        self.call("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def run(self, script):
        """Runs a script, and returns its value; what is not a text or a number is JSON."""
        result = self.call(
            "script.evaluate", expression=script, target={"context": self.context}, awaitPromise=True, userActivation=True)
        assert result["type"] == "success", (script, result.get("exceptionDetails"))
        return result["result"].get("value")

    def until(self, condition):
        """Waits until an expression is true; returns its value."""
        return self.run(f"""(async () => {{
            for (const end = performance.now() + {TIMEOUT * 1000}; performance.now() < end;) {{
                const value = await ({condition})
                if (value) return value
                await new Promise(requestAnimationFrame)
            }}
            throw new Error("not within {TIMEOUT} seconds: " + document.body.innerText.slice(0, 500))
        }})()""")

    def type(self, text):
        """Types a text where the focus is."""
        keys = [{"type": kind, "value": letter} for letter in text for kind in ("keyDown", "keyUp")]
        self.call("input.performActions", context=self.context, actions=[{"type": "key", "id": "keyboard", "actions": keys}])

    def picture(self, stage, name):
        if stage.screenshots:
            data = self.call("browsingContext.captureScreenshot", context=self.context)["data"]
            stage.screenshots.mkdir(parents=True, exist_ok=True)
            (stage.screenshots / f"firefox-{name}.png").write_bytes(base64.b64decode(data))

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait()
        self.drain.wait()
        self.home.cleanup()


PIXELS = """(() => {
    const canvas = document.createElement("canvas"), video = document.querySelector(".player video")
    Object.assign(canvas, { width: 16, height: 16 })
    canvas.getContext("2d").drawImage(video, 0, 0, 16, 16)
    return JSON.stringify([...canvas.getContext("2d").getImageData(0, 0, 16, 16).data])
})()"""


def smoke(stage):
    """Firefox signs in, shows Now, opens a post, and its video plays"""
    post = stage.content.ready
    with contextlib.closing(Firefox(stage.folder)) as firefox:
        firefox.open(f"{stage.service.url}/console")
        firefox.until("document.activeElement?.name === 'key'")
        firefox.type(KEY + ENTER)
        firefox.until("/^\\d/.test(document.querySelector('.tiles .tile b')?.textContent)")
        firefox.until("[...document.querySelectorAll('[aria-label=Workers] .badge')].some(badge => badge.textContent === 'alive')")
        firefox.picture(stage, "now")
        firefox.run(f"void (location.hash = '#/post/{post['id']}')")
        video = "document.querySelector('.player video')"
        firefox.until(f"{video}?.currentTime > 0.2 && {video}.readyState >= 2")
        before, time = json.loads(firefox.run(PIXELS)), firefox.run(f"{video}.currentTime")
        firefox.until(f"Math.abs({video}.currentTime - {time}) > 0.5")
        assert difference(before, json.loads(firefox.run(PIXELS))) > 16, "the frames are the same"
        firefox.picture(stage, "post")
        for address in ("moments", "moments?tab=feed", "jobs", "store", "people", "submit"):
            firefox.run(f"void (location.hash = '#/{address}')")
            firefox.until("""document.querySelector("#main h1")
                && !/Loading…|Reading…|Searching…/.test(document.querySelector("#main").innerText)""")
        assert firefox.errors == [], firefox.errors


TESTS = (smoke,)
