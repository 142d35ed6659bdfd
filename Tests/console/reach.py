"""All views, in both themes, on a desk and on a phone: nothing fails, nothing is too wide, axe finds no barrier, and a keyboard is
enough."""

import re

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from console import PHONE, Console, Page, opened
from service import KEY

PARTS = ("watch", "files", "frames", "sound", "colour", "privacy", "definition", "attempts")


def addresses(content):
    """Each view with something to show."""
    post, case = content.ready, content.case()[1]
    content.dead, content.quarantine(), content.job("scheduled", author="ada")
    return [
        "now", "submit", "moments", f"moments?tab=calendar&author={content.ada}", "moments?tab=feed&status=any", "jobs", "jobs?state=dead",
        "jobs?tab=quarantine", "store", "store?tab=runs", "people", "people?tab=cases", "people?tab=cases&state=decided",
        "people?tab=webhooks", "people?tab=window", *(f"post/{post['id']}?tab={part}" for part in PARTS), f"post/{content.photos['id']}",
        f"post/{content.photos['id']}?tab=files", f"post/{content.rejected['id']}", f"job/{post['job']['id']}", f"job/{content.dead}",
        f"user/{content.ada}", f"case/{case['id']}", f"webhook/{content.webhook()['id']}", f"run/{content.run(authors=['ada'])['id']}",
    ]


def name_of(address):
    """An address as the name of a picture."""
    return re.sub(r"[^a-z]+", "-", re.sub(r"[0-9a-f]{8}-[0-9a-f-]+|\d+", "", address)).strip("-")


def walk(stage, theme, look, **options):
    """Looks at each view in a theme."""
    with opened(Console(stage, theme=theme, **options)) as console:
        assert console.page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light dark"
        for number, address in enumerate(addresses(stage.content)):
            console.go(address)
            look(console, f"{number:02}-{name_of(address)}")
            console.check()


def every_view(theme):
    def test(stage):
        walk(stage, theme, lambda console, name: console.picture(f"{theme}-{name}"))

    test.__doc__ = f"nothing fails in any view, {theme}"
    return test


def barriers(page, name):
    """What axe finds: barriers to people who see little, or use no mouse."""
    results = Axe().run(page, options={"resultTypes": ["violations"]}).response
    return [f"{name}: {violation['id']} ({violation['impact']}): {node['target']} {node['failureSummary']}"
            for violation in results["violations"] for node in violation["nodes"]]


def axe(theme):
    def test(stage):
        found = []
        # Parts that come in slowly would be judged half transparent.
        walk(stage, theme, lambda console, name: found.extend(barriers(console.page, name)), reduced_motion="reduce")
        with opened(Console(stage, key=None, theme=theme)) as console:
            expect(console.page.get_by_label("Key")).to_be_visible()
            found += barriers(console.page, "the sign-in")
        with opened(Page(stage, theme=theme, size=PHONE)) as page:
            page.page.goto(f"{stage.service.url}/film")
            expect(page.page.get_by_role("heading", name="Sign in")).to_be_visible()
            found += barriers(page.page, "/film")
        assert not found, "\n".join([f"{len(found)} barriers", *found])

    test.__doc__ = f"axe finds no barrier in any view, {theme}"
    return test


def phone(stage):
    """no view is wider than 360 pixels"""

    def look(console, name):
        console.fits()
        console.picture(f"phone-{name}")

    walk(stage, "light", look, size=PHONE, has_touch=True, is_mobile=True)
    with opened(Console(stage, key=None, size=PHONE)) as console:
        expect(console.page.get_by_label("Key")).to_be_visible()
        console.fits()


def theme(stage):
    """the button changes the theme, which outlives a reload"""
    with opened(Console(stage)) as console:
        color = "getComputedStyle(document.body).backgroundColor"
        light = console.page.evaluate(color)
        console.page.get_by_role("button", name="Light or dark").click()
        dark = console.page.evaluate(color)
        assert light != dark
        console.page.reload()
        console.drawn("now")
        assert console.page.evaluate(color) == dark


def keyboard(stage):
    """a keyboard is enough: from the sign-in to the jobs, to one of them, and back"""
    job = stage.content.job("scheduled", author="ada", age=0)
    with opened(Console(stage, key=None)) as console:
        expect(console.page.get_by_label("Key")).to_be_focused()
        console.page.keyboard.type(KEY)
        console.page.keyboard.press("Enter")
        console.drawn("now")
        console.tab_to(lambda focus: focus["tag"] == "a" and focus["text"] == "Jobs")
        console.page.keyboard.press("Enter")
        console.drawn("jobs")
        console.tab_to(lambda focus: focus["role"] == "row")
        expect(console.page.locator(f".long-row[data-key='{job}']")).to_be_focused()
        for key in ("ArrowDown", "ArrowUp", "PageDown", "Home"):
            console.page.keyboard.press(key)
        expect(console.page.locator(f".long-row[data-key='{job}']")).to_be_focused()
        console.page.keyboard.press("Enter")
        console.drawn("job")
        console.tab_to(lambda focus: focus["text"] == "Cancel")
        console.page.keyboard.press("Enter")
        dialog = console.page.locator("dialog[open]")
        expect(dialog).to_be_visible()
        console.page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        assert stage.content.request("GET", f"/v1/jobs/{job}")["state"] == "scheduled"
        console.page.go_back()
        console.drawn("jobs")


TESTS = (every_view("light"), every_view("dark"), axe("light"), axe("dark"), phone, theme, keyboard)
