"""The view Submit: files become a moment, and what is wrong with a file is said in words."""

import re

from playwright.sync_api import expect

from console import Console, opened
from content import BERLIN, camera_clip, damaged_clip

# A refused submission is an error to the browser's console.
REFUSED = ("status of 422", "status of 415", "status of 400")


def files_of(console, *files):
    """Chooses files: `(name, bytes)` or `(name, bytes, type)`."""
    console.main.locator("input[type=file]").set_input_files(
        [{"name": name, "mimeType": (*kind, "video/mp4")[0], "buffer": data} for name, data, *kind in files])


def choose(console, author, files=None, **fields):
    """Chooses two clips, and fills the form."""
    name = console.stage.content.new(author)
    files = files or [(f"{camera}.mp4", camera_clip(name, camera)) for camera in ("front", "back")]
    files_of(console, *files)
    expect(console.main.locator(".preview")).to_have_count(len(files))
    console.main.get_by_label("Author").fill(author)
    for name, text in fields.items():
        console.main.locator(f"[name={name}]").fill(text)


def shown(console):
    return console.main.locator(".submission").first


def state(console):
    return shown(console).locator("summary .badge")


def moment(stage):
    """two clips become a moment, which plays; the first look and the result have their times"""
    with opened(Console(stage, address="submit")) as console:
        choose(console, "grace", caption="At the lake", location=f"{BERLIN[0]}, {BERLIN[1]}")
        expect(console.main.locator(".preview").first).to_contain_text("Front · in the inset")
        expect(console.main.locator(".preview video").first).to_be_visible()
        console.picture("submit")
        console.button("Submit").click()
        expect(state(console)).to_have_text("ready")
        console.plays(shown(console).locator("video").nth(1))
        times = shown(console).locator(".tile b")
        for index in (0, 2):
            expect(times.nth(index)).to_have_text(re.compile(r"^[\d.]+ s$"))
        expect(shown(console).locator(".submission-stages li.done")).to_have_count(8)
        expect(shown(console).locator(".verdict")).to_contain_text("The media are sound.")
        expect(shown(console).locator(".verdict")).to_contain_text("One moment.")
        console.picture("submit-ready")
        shown(console).get_by_role("link", name="Open the post").click()
        expect(console.main.get_by_text("At the lake", exact=True).first).to_be_visible()
        [post] = stage.content.request("GET", "/v1/posts?author=grace")["items"]
        assert post["location"] == {"latitude": BERLIN[0], "longitude": BERLIN[1]}, post


def pause(stage):
    """an upload that is paused stops, and continues"""
    with opened(Console(stage, address="submit")) as console:
        session = console.context.new_cdp_session(console.page)
        session.send("Network.enable")
        limits = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 500_000}
        session.send("Network.emulateNetworkConditions", limits)
        choose(console, "grace")
        console.button("Submit").click()
        console.button("Pause").click()
        expect(state(console)).to_have_text("paused")
        session.send("Network.emulateNetworkConditions", {**limits, "uploadThroughput": -1})
        console.button("Resume").click()
        expect(state(console)).to_have_text("ready")


def text_as_clip(stage):
    """a text with the name of a clip is refused, in words and with what helps"""
    with opened(Console(stage, address="submit"), REFUSED) as console:
        choose(console, "grace", files=[("front.mp4", b"Only words.\n" * 9000), ("back.mp4", camera_clip("any", "back"))])
        expect(console.main.get_by_text("This browser cannot show it.")).to_be_visible()
        console.button("Submit").click()
        expect(state(console)).to_have_text("refused")
        expect(shown(console).locator(".submission-stages li.bad")).to_contain_text("Checked by the service")
        reasons = shown(console).get_by_role("list", name="Reasons")
        steps = shown(console).get_by_role("list", name="Stages").bounding_box()
        assert reasons.bounding_box()["y"] < steps["y"], "the reason stands below the steps"
        expect(reasons).to_contain_text("The format of the file is not supported")
        expect(reasons).to_contain_text("What helps:")
        expect(reasons).to_contain_text("unsupported_container")
        expect(shown(console)).to_contain_text("front.mp4")
        console.picture("submit-refused")


def same_clip(stage):
    """the same clip twice is refused in words"""
    with opened(Console(stage, address="submit"), REFUSED) as console:
        clip = camera_clip("same", "front")
        choose(console, "grace", files=[("one.mp4", clip), ("two.mp4", clip)])
        console.button("Submit").click()
        expect(state(console)).to_have_text(re.compile("refused|rejected"))
        expect(shown(console).get_by_role("list", name="Reasons")).to_contain_text("Both clips are the same file")
        console.picture("submit-same")


def noise(stage):
    """a damaged clip is rejected, with the place of the damage"""
    with opened(Console(stage, address="submit"), REFUSED) as console:
        choose(console, "grace", files=[("front.mp4", damaged_clip()), ("back.mp4", camera_clip("whole", "back"))])
        console.button("Submit").click()
        expect(state(console)).to_have_text("rejected")
        reasons = shown(console).get_by_role("list", name="Reasons").first
        expect(reasons).to_contain_text("The video is damaged")
        expect(reasons).to_contain_text(re.compile(r"front clip"))


def photos(stage):
    """photos become a post; clips and photos do not go together"""
    photo = stage.content.photo_bytes
    with opened(Console(stage, address="submit")) as console:
        choose(console, "grace", files=[("a.jpg", photo, "image/jpeg"), ("b.jpg", photo, "image/jpeg")])
        expect(console.main.locator(".preview strong").first).to_have_text("Photo 1")
        files_of(console, ("front.mp4", camera_clip("third", "front")))
        expect(console.main.locator(".submit-says")).to_contain_text("Clips and photos do not go together")
        console.button("Remove front.mp4").click()
        console.button("Submit").click()
        expect(state(console)).to_have_text("ready")
        expect(shown(console).locator(".photos-place")).to_have_text("1 of 2")
        shown(console).get_by_role("button", name="Next photo").click()
        expect(shown(console).locator(".photos-place")).to_have_text("2 of 2")


def lost_response(stage):
    """a submission that has arrived without its response is tried again, and is one post"""
    author, lost = stage.content.new("lost"), []

    def lose(route):
        if route.request.method != "POST" or len(lost) == 2:
            return route.fallback()
        lost.append(route.fetch().status)
        route.abort()

    with opened(Console(stage, address="submit"), ("ERR_FAILED",)) as console:
        console.page.route("**/v1/posts", lose)
        choose(console, author)
        console.button("Submit").click()
        expect(state(console)).to_have_text("failed")
        shown(console).get_by_role("button", name="Try again").click()
        expect(state(console)).to_have_text("ready")
    posts = stage.content.request("GET", f"/v1/posts?author={author}&status=ready&status=processing")["items"]
    assert len(posts) == 1 and lost == [202, 202], (posts, lost)


TESTS = (moment, lost_response, pause, text_as_clip, same_clip, noise, photos)
