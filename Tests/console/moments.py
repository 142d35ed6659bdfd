"""The view Moments: pins where the posts are, a user's month, and the feed."""

import math
import re

from playwright.sync_api import expect

from console import Console, opened
from content import BERLIN, NEW_YORK, SYDNEY

# How far from the computed place the middle of a pin may be, in pixels.
NEAR = 1.5


def mercator(latitude, longitude):
    """Web Mercator: the place in a world whose width is 1."""
    return longitude / 360 + 0.5, 0.5 - math.asinh(math.tan(math.radians(latitude))) / (2 * math.pi)


def resting(console):
    """Waits until the map rests, and has read what is in its frame."""
    console.until("""async () => {
        const map = document.querySelector(".map"), before = map.dataset.center + map.dataset.zoom
        await new Promise(resolve => setTimeout(resolve, 400))
        return map.dataset.center + map.dataset.zoom === before && map.getAttribute("aria-busy") === "false"
    }""")


def check_pins(console, places):
    """Compares the middles of the pins with the projection of their coordinates; returns how many are in the frame."""
    resting(console)
    shown = console.page.evaluate("""(() => {
        const map = document.querySelector(".map"), frame = map.getBoundingClientRect()
        const [longitude, latitude] = map.dataset.center.split(",").map(Number)
        return { longitude, latitude, zoom: Number(map.dataset.zoom), width: map.clientWidth, height: map.clientHeight,
            pins: Object.fromEntries([...map.querySelectorAll(".pin[data-post]:not([hidden])")].map(pin => {
                const box = pin.getBoundingClientRect()
                return [pin.dataset.post,
                    [box.x + box.width / 2 - frame.x - map.clientLeft, box.y + box.height / 2 - frame.y - map.clientTop]]
            })) }
    })()""")
    scale = 256 * 2 ** shown["zoom"]
    middle = mercator(shown["latitude"], shown["longitude"])
    found = 0
    for post, place in places.items():
        if post not in shown["pins"]:
            continue
        x, y = mercator(*place)
        across = (x - middle[0] + 0.5) % 1 - 0.5
        wanted = shown["width"] / 2 + across * scale, shown["height"] / 2 + (y - middle[1]) * scale
        distance = math.dist(wanted, shown["pins"][post])
        assert distance < NEAR, f"{place}: a pin at {shown['pins'][post]}, not at {wanted}: {shown}"
        found += 1
    return found


def pins(stage):
    """pins stand where the posts are, at each zoom and after a drag"""
    content = stage.content
    author = content.new("traveller")
    places = {content.marker(author, place, kind="marker")["id"]: place for place in (BERLIN, NEW_YORK, SYDNEY)}
    with opened(Console(stage, address="moments")) as console:
        page, box = console.page, console.page.locator(".map").bounding_box()
        page.get_by_label("Kind").select_option("marker")
        page.get_by_role("button", name="Show the whole world").click()
        resting(console)
        # Others may have posted in Berlin: there is a group then.
        assert check_pins(console, places) >= 2
        console.picture("moments-map")
        for place in (SYDNEY, NEW_YORK):
            console.go(f"moments?at={place[1]},{place[0]},9")
            assert check_pins(console, places) == 1
            page.get_by_role("button", name="Zoom in").click()
            assert check_pins(console, places) == 1
            x, y = box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.3
            page.mouse.move(x, y)
            page.mouse.down()
            page.mouse.move(x + 130, y + 70, steps=8)
            page.mouse.up()
            assert check_pins(console, places) == 1
            page.mouse.wheel(0, 240)
            assert check_pins(console, places) == 1


def card(stage):
    """a pin opens a card that leads to the post; the keyboard does the same"""
    content = stage.content
    author = content.new("pinned")
    post = content.marker(author, (-54.8, -68.3), title="The end of the world")
    with opened(Console(stage, address="moments?at=-68.3,-54.8,9")) as console:
        pin = console.page.locator(f".pin[data-post='{post['id']}']")
        pin.click()
        shown = console.page.locator(".map-card")
        expect(shown).to_contain_text("The end of the world")
        expect(shown).to_contain_text(author)
        console.picture("moments-card", whole=False)
        console.page.keyboard.press("Escape")
        expect(shown).to_have_count(0)
        expect(pin).to_be_focused()
        console.page.keyboard.press("Enter")
        shown.get_by_role("link", name="Open the post").click()
        console.drawn("post")
        expect(console.main.locator("h1")).to_have_text("The end of the world")


def calendar(stage):
    """the calendar has a user's days with the picture of a moment"""
    content = stage.content
    content.ready
    with opened(Console(stage, address="moments")) as console:
        console.page.get_by_role("tab", name="Calendar").click()
        console.button("Ada Lovelace").click()
        today = console.main.locator(".month .is-today")
        expect(today.locator("img")).to_be_visible()
        console.until("element => element.complete && element.naturalWidth > 0", today.locator("img").element_handle())
        console.picture("moments-calendar")
        today.locator("a").focus()
        expect(today.locator("a.is-playing")).to_be_visible()
        console.button("Previous month").click()
        expect(console.main.get_by_text("ada has no posts in this month.")).to_be_visible()
        assert "month=" in console.page.url and "tab=calendar" in console.page.url
        console.button("This month").click()
        console.main.locator(".month .is-today a").click()
        console.drawn("post")


def feed(stage):
    """new posts wait at a button, and a card plays its moment"""
    content = stage.content
    content.ready
    with opened(Console(stage, address="moments?tab=feed")) as console:
        ready = console.main.locator(f"[data-post='{content.ready['id']}']")
        expect(ready).to_contain_text("A lake at dusk")
        ready.get_by_role("button", name=re.compile("^Play: ")).click()
        console.plays(ready.locator("video:visible").first)
        post = content.marker(content.new("late"), title="While you look")
        console.main.get_by_role("button", name=re.compile("^Show 1 new post")).click()
        new = console.main.locator(f"[data-post='{post['id']}']")
        expect(new).to_contain_text("While you look")
        content.request("DELETE", f"/v1/posts/{post['id']}")
        console.picture("moments-feed", whole=False)
        console.page.get_by_label("Author", exact=True).fill("no-one")
        console.page.keyboard.press("Enter")
        expect(console.main.get_by_text("No posts match these filters.")).to_be_visible()


TESTS = (pins, card, calendar, feed)
