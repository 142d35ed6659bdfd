"""A page in a browser as a person uses it, and all that goes wrong in it."""

import contextlib
import re

from playwright.sync_api import expect

from service import KEY, TIMEOUT

expect.set_options(timeout=TIMEOUT * 1000)

DESK, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 740}

# Runs before the scripts of each page: what its policy refuses counts as an error, and so does a script of a user that runs.
WATCH = """
addEventListener("securitypolicyviolation", event => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`))
Object.defineProperty(window, "__pwned", { set(value) { console.error(`a script of a user ran: ${value}`) } })
"""

# The first pixels of a video, or what a canvas shows, in 32 x 32 pixels.
PIXELS = """element => {
  const context = new OffscreenCanvas(32, 32).getContext("2d")
  context.drawImage(element, 0, 0, 32, 32)
  return [...context.getImageData(0, 0, 32, 32).data]
}"""


def difference(before, after):
    """By how much the pixels of two pictures differ where they differ most, of 255."""
    return max(abs(one - other) for one, other in zip(before, after))


class Page:
    """A page with a context of its own: its cookies and its storage are those of no other page."""

    def __init__(self, stage, *, theme="light", size=DESK, **options):
        self.stage, self.theme = stage, theme
        self.context = stage.browser.new_context(
            color_scheme=theme, viewport=size, accept_downloads=True, locale="en-GB", timezone_id="Europe/Berlin", **options)
        self.context.set_default_timeout(TIMEOUT * 1000)
        self.context.add_init_script(WATCH)
        self.page = self.context.new_page()
        self.errors = []
        self.page.on("pageerror", lambda error: self.errors.append(f"error: {error}"))
        self.page.on("console", lambda message: message.type == "error" and self.errors.append(
            f"{message.text} {message.location.get('url', '')}"))
        self.page.on("requestfailed", self.note_failure)
        self.page.on("dialog", self.note_dialog)

    def note_failure(self, request):
        # A request that the page itself gives up has failed too.
        if request.failure != "net::ERR_ABORTED":
            self.errors.append(f"{request.failure}: {request.url}")

    def note_dialog(self, dialog):
        self.errors.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def check(self, allowed=()):
        """Fails if anything has gone wrong that is not allowed: parts of messages."""
        found = [error for error in self.errors if not any(re.search(each, error) for each in allowed)]
        assert not found, found

    def until(self, condition, *arguments):
        """Waits in the page until a condition is true, a function of JavaScript; returns its value."""
        return self.page.evaluate(f"""async all => {{
            const condition = {condition}, end = performance.now() + {TIMEOUT * 1000}
            for (;;) {{
                const value = await condition(...all)
                if (value) return value
                if (performance.now() > end) throw new Error("not within {TIMEOUT} seconds: " + condition)
                await new Promise(requestAnimationFrame)
            }}
        }}""", list(arguments))

    def plays(self, video):
        """Checks that a video shows other frames as time passes."""
        expect(video).to_be_visible()
        element = video.element_handle()
        self.until("video => video.readyState >= 2 && video.currentTime > 0", element)
        before, time = element.evaluate(PIXELS), element.evaluate("video => video.currentTime")
        assert max(before[index] for index in range(len(before)) if index % 4 < 3) > 20, "the video is black"
        self.until("(video, time) => Math.abs(video.currentTime - time) > 0.5 && video.readyState >= 2", element, time)
        moved = difference(before, element.evaluate(PIXELS))
        assert moved > 16, f"the frames are the same: they differ by {moved}"

    def too_wide(self):
        """What is wider than the screen; empty if all fits."""
        return self.page.evaluate("""(() => {
            if (document.documentElement.scrollWidth <= innerWidth) return []
            const wide = [...document.querySelectorAll("body *")].filter(element => element.getClientRects().length
                && element.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5 && !element.closest(".scroll, .map, #views, .unseen"))
            return [`${location.hash}: ${document.documentElement.scrollWidth} pixels: ` + wide.slice(0, 6).map(element =>
                `${element.localName}.${element.getAttribute("class")} ${element.getBoundingClientRect().right}`).join(", ")]
        })()""")

    def fits(self):
        """Checks that nothing is wider than the screen."""
        assert not self.too_wide(), self.too_wide()

    def focus(self):
        """What has the focus: its name, and whether a person sees that it has it."""
        return self.page.evaluate("""(() => {
            const element = document.activeElement, style = getComputedStyle(element)
            return { text: (element.getAttribute("aria-label") ?? element.innerText ?? "").trim(), tag: element.localName,
                role: element.getAttribute("role"), isSeen: style.outlineStyle !== "none" || element.localName === "body" }
        })()""")

    def tab_to(self, condition, most=120):
        """Presses Tab until what has the focus is the right one; each stop on the way must be seen."""
        for _ in range(most):
            self.page.keyboard.press("Tab")
            focus = self.focus()
            assert focus["isSeen"], f"the focus is not seen: {focus}"
            if condition(focus):
                return focus
        raise AssertionError(f"{most} stops, and none is the right one; the last one: {focus}")

    def picture(self, name, whole=True):
        """Stores what the page shows, if pictures are wanted."""
        if folder := self.stage.screenshots:
            folder.mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=folder / f"{name}.png", full_page=whole)

    def start(self):
        """Opens the page."""

    def close(self):
        self.context.close()


class Console(Page):
    """The console, signed in with a key."""

    def __init__(self, stage, key=KEY, address="now", **options):
        super().__init__(stage, **options)
        self.key, self.first, self.url = key, address, f"{stage.service.url}/console"

    def start(self):
        """Signs in, without the form, and opens the first view; without a key, opens the form."""
        if self.key:
            response = self.context.request.post(f"{self.url}/session", data={"key": self.key}, headers={"Take5-Console": "1"})
            assert response.ok, response.text()
        self.page.goto(f"{self.url}#/{self.first}")
        if self.key:
            self.drawn(self.first)

    @property
    def main(self):
        return self.page.locator("#main")

    def go(self, address):
        """Goes to a view, such as `jobs?state=dead`, and waits until it is drawn."""
        self.page.evaluate("address => { location.hash = address }", f"#/{address}")
        self.drawn(address)

    def drawn(self, address):
        """Waits until a view is there, with all that it reads first."""
        name = re.split("[/?]", address)[0]
        expect(self.main).to_have_class(f"view-{name}")
        expect(self.main.locator("h1").first).to_be_visible()
        for word in ("Loading…", "Reading…", "Measuring a frame…", "Loading the clips…", "Searching…"):
            expect(self.main.get_by_text(word, exact=True)).to_have_count(0)
        expect(self.main.locator("[aria-busy=true]")).to_have_count(0)

    def part(self, title):
        """A part of the view, by its title."""
        return self.main.get_by_role("region", name=title, exact=True)

    def button(self, name, exact=True):
        return self.main.get_by_role("button", name=name, exact=exact)

    def link(self, name, exact=True):
        return self.main.get_by_role("link", name=name, exact=exact)

    def menu(self, name):
        return self.page.get_by_role("navigation", name="Views").get_by_role("link", name=name, exact=True)

    def says(self, text):
        """Waits for a note of a few seconds."""
        expect(self.page.locator(".toast", has_text=text).last).to_be_visible()

    def answer(self, name, **fields):
        """Fills the fields of the dialog, and presses one of its buttons."""
        dialog = self.page.locator("dialog[open]")
        expect(dialog).to_be_visible()
        for label, text in fields.items():
            dialog.locator(f"[name={label}]").fill(text)
        button = dialog.get_by_role("button", name=name, exact=True)
        button.click()
        expect(button).to_have_count(0)


@contextlib.contextmanager
def opened(page, allowed=()):
    """A page for a test, in which nothing may go wrong but what is allowed; a picture shows where the test has failed."""
    try:
        page.start()
        yield page
        page.check(allowed)
    except BaseException:
        page.stage.number += 1
        with contextlib.suppress(Exception):
            page.picture(f"failed-{page.stage.number}", whole=False)
        for error in list(dict.fromkeys(page.errors))[:6]:
            print(f"  in the page: {error}", flush=True)
        raise
    finally:
        page.close()
