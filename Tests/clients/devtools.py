"""Chromium without a window, driven over the pipe of the Chrome DevTools Protocol (chromedevtools.github.io/devtools-protocol):
messages in JSON that end with a zero byte, on its descriptors 3 and 4."""

import base64
import fcntl
import json
import os
import pathlib
import select
import shutil
import signal
import tempfile

from service import TIMEOUT


class Chromium:
    """A browser that trusts one certificate."""

    def __init__(self, folder, certificate):
        # The browser writes more than the profile where it is at home.
        self.home = tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True)
        home = pathlib.Path(self.home.name)
        arguments = [
            "chromium", "--headless", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe",
            f"--user-data-dir={home}/profile",
            f"--ignore-certificate-errors-spki-list={certificate.hash}", *(["--no-sandbox"] if os.geteuid() == 0 else []),
            "about:blank"]
        (commands, self.output), (self.input, replies) = self.pipe(), self.pipe()
        log = home / "chromium.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644
        self.id = os.posix_spawn(
            shutil.which("chromium"), arguments, {**os.environ, "HOME": self.home.name}, file_actions=[
                (os.POSIX_SPAWN_OPEN, 1, *log), (os.POSIX_SPAWN_OPEN, 2, *log), (os.POSIX_SPAWN_DUP2, commands, 3),
                (os.POSIX_SPAWN_DUP2, replies, 4)])
        for end in (commands, replies):
            os.close(end)
        self.buffer, self.number, self.events = b"", 0, []

    @staticmethod
    def pipe():
        """A pipe, away from the numbers that the browser's ends get."""
        ends = os.pipe()
        try:
            return [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
        finally:
            for end in ends:
                os.close(end)

    def call(self, method, session=None, **parameters):
        """Calls a method and returns its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.output, data):]
        while (reply := self.receive()).get("id") != self.number:
            self.events.append(reply)
        if "error" in reply:
            raise AssertionError(f"{method}: {reply['error']}")
        return reply["result"]

    def receive(self):
        while b"\0" not in self.buffer:
            if not select.select([self.input], [], [], TIMEOUT)[0]:
                raise AssertionError(f"Chromium was silent for {TIMEOUT} s")
            data = os.read(self.input, 1 << 16)
            if not data:
                raise AssertionError("Chromium has ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def wait(self, event, session):
        """Waits for an event, such as `Page.loadEventFired`."""
        while not any(past.get("method") == event and past.get("sessionId") == session for past in self.events):
            self.events.append(self.receive())

    def open(self, url):
        """Opens a page and waits until it is loaded."""
        return Page(self, url)

    def close(self):
        """Ends the browser, also one that does not respond."""
        os.kill(self.id, signal.SIGTERM)
        os.waitpid(self.id, 0)
        for end in (self.input, self.output):
            os.close(end)
        self.home.cleanup()


class Page:
    """A page in a tab of its own."""

    def __init__(self, browser, url):
        self.browser = browser
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self.call(f"{domain}.enable")
        result = self.call("Page.navigate", url=url)
        assert "errorText" not in result, result
        browser.wait("Page.loadEventFired", self.session)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def run(self, script, waits=True):
        """Runs a script; returns its value, and that of a promise once it is fulfilled."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=waits, returnByValue=waits)
        if "exceptionDetails" in result:
            raise AssertionError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def choose(self, *paths):
        """Chooses files in the first field for files, as a person does."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector="input[type=file]")["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(path) for path in paths])

    def go_offline(self, is_offline):
        """Says to the page whether it has a network. Requests that are on their way go on: they need a link that breaks."""
        self.call(
            "Network.emulateNetworkConditions", offline=is_offline, latency=0, downloadThroughput=-1, uploadThroughput=-1)

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
