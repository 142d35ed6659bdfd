"""The first app of the documents: its commands start the service, and its page films, shows the first look and plays."""

import base64
import contextlib
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import urllib.request

from playwright.sync_api import expect

from console import PHONE, PIXELS, Page, difference, opened
from service import SAMPLES, free_ports, wait_until

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "first-app.md"
# What starts these ends with the test; the others end by themselves.
SERVERS = ("take5 serve ", "python3 -m http.server ")
# Another test runs the image, and installs the package.
ELSEWHERE = ("podman ", "sudo ")


def blocks(language):
    """The code blocks of the document in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)


def commands():
    """The commands of the document; one that is continued is one."""
    lines = "".join(blocks("sh")).replace("\\\n", " ").splitlines()
    return [line for line in lines if not line.startswith(ELSEWHERE)]


class App:
    """The app as the document makes it, in a folder and on ports of its own."""

    def __init__(self, stage, folder, stack):
        service, pages = free_ports(2)
        self.url, self.folder = f"http://127.0.0.1:{pages}", folder
        self.replaced = {"8080": str(service), "8000": str(pages), "0.0.0.0": "127.0.0.1"}
        programs = folder / "bin"
        programs.mkdir()
        (programs / "take5").symlink_to(stage.content.program)
        self.environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
        (folder / "app").mkdir()
        [page] = blocks("html")
        (folder / "app" / "index.html").write_text(self.own(page))
        for command in commands():
            self.run(command, stack)

    def output(self, command):
        """What a command of the document prints now."""
        assert command in commands(), command
        return self.finished(command)

    def own(self, text):
        for port, own in self.replaced.items():
            text = text.replace(port, own)
        return text

    def finished(self, command):
        """Runs a command to its end; returns what it prints."""
        done = subprocess.run(
            ["bash", "-euc", self.own(command)], capture_output=True, text=True, cwd=self.folder, env=self.environment)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def run(self, command, stack):
        """Runs a command; a server runs until the test ends."""
        if not command.startswith(SERVERS):
            self.finished(command)
            return
        log = stack.enter_context((self.folder / f"{command.split()[1]}.log").open("wb"))
        server = subprocess.Popen(shlex.split(self.own(command)), stdout=log, stderr=log, cwd=self.folder, env=self.environment)
        stack.callback(end, server)
        port = self.replaced["8080" if command.startswith("take5") else "8000"]
        path = "/livez" if command.startswith("take5") else "/"
        wait_until(lambda: server.poll() is not None or answers(f"http://127.0.0.1:{port}{path}"), command)
        assert server.poll() is None, (self.folder / f"{command.split()[1]}.log").read_text()


def answers(url):
    with contextlib.suppress(OSError), urllib.request.urlopen(url):
        return True
    return False


def end(server):
    # A shell that runs this in the background has it ignore SIGINT.
    server.terminate()
    server.wait()


@contextlib.contextmanager
def made(stage):
    """The app, and a page with it on a phone."""
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="take5-first-app-")))
        # PostgreSQL runs as another user, which must be able to enter the folder.
        folder.chmod(0o755)
        app = App(stage, folder, stack)
        # A name that is taken, and clips that make no moment, are refused.
        page = stack.enter_context(opened(
            Page(stage, size=PHONE, has_touch=True, is_mobile=True, device_scale_factor=2), ("status of 4", "favicon")))
        page.page.goto(app.url)
        yield app, page


def fill(page, front, back, name="ada"):
    page.page.get_by_label("Name").fill(name)
    page.page.get_by_label("Password").fill("correct horse")
    for field, clip in (("front", front), ("back", back)):
        page.page.locator(f"input[name={field}]").set_input_files(clip)
    page.page.get_by_role("button", name="Post the moment").tap()


def frame(page, video):
    """What the screen shows of a video. Its frames are those of another origin, which no canvas returns."""
    return page.page.evaluate(f"""async data => {{
        const picture = await createImageBitmap(await (await fetch(`data:image/png;base64,${{data}}`)).blob())
        return ({PIXELS})(picture)
    }}""", base64.b64encode(video.screenshot()).decode())


def plays(page):
    """Checks that the video of the page shows other frames as time passes."""
    video = page.page.locator("#video")
    expect(video).to_be_visible()
    element = video.element_handle()
    # They change without the frames.
    element.evaluate("video => { video.controls = false }")
    page.until("video => video.readyState >= 2 && video.currentTime > 0", element)
    before, time = frame(page, video), element.evaluate("video => video.currentTime")
    assert max(before[index] for index in range(len(before)) if index % 4 < 3) > 20, "the video is black"
    page.until("(video, time) => Math.abs(video.currentTime - time) > 0.5 && video.readyState >= 2", element, time)
    moved = difference(before, frame(page, video))
    assert moved > 16, f"the frames are the same: they differ by {moved}"


def films(stage):
    """the page of the document films, shows the first look, and plays the composition, again after a new sign-in"""
    with made(stage) as (app, page):
        # Whether the video had its poster while the moment was being composed.
        page.page.evaluate("""() => {
            const video = document.getElementById("video"), bar = document.getElementById("bar")
            globalThis.seen = { poster: false, values: new Set() }
            const look = () => {
                if (video.poster && !video.src) seen.poster = true
                if (!bar.hidden) seen.values.add(bar.value)
                requestAnimationFrame(look)
            }
            look()
        }""")
        front, back = (SAMPLES / f"{camera}.mp4" for camera in ("front", "back"))
        fill(page, front, back)
        expect(page.page.get_by_text("Your moment")).to_be_visible()
        assert page.page.evaluate("seen.poster"), "the first look was not shown"
        assert page.page.evaluate("seen.values.size") > 2, "the progress was not shown"
        plays(page)
        page.fits()
        page.picture("first-app")
        users = app.output("take5 users list --data data")
        assert "  ada  created " in users, users
        assert "post" in app.output("take5 jobs stats --data data")
        page.page.reload()
        fill(page, back, front)
        expect(page.page.get_by_text("Your moment")).to_be_visible()
        plays(page)
        assert app.output("take5 users list --data data").count("\n") == 1


def refuses(stage):
    """the page of the document says why a moment is refused, and posts another one afterwards"""
    with made(stage) as (app, page):
        front, back = (SAMPLES / f"{camera}.mp4" for camera in ("front", "back"))
        fill(page, front, front)
        expect(page.page.locator("#text")).to_contain_text("same file")
        page.page.locator("input[name=back]").set_input_files(back)
        page.page.get_by_role("button", name="Post the moment").tap()
        expect(page.page.get_by_text("Your moment")).to_be_visible()


TESTS = (films, refuses)
