"""A moment from the inside out: each part of the view of a post shows what is true of the samples."""

import re

from playwright.sync_api import expect

from console import PIXELS, Console, difference, opened
from service import SAMPLES


def part(stage, name):
    """Opens a part of the ready moment."""
    return opened(Console(stage, address=f"post/{stage.content.ready['id']}?tab={name}"))


def watch(stage):
    """both clips play in step, cameras swap, and the composed video plays"""
    with opened(Console(stage, address=f"post/{stage.content.ready['id']}")) as console:
        player = console.main.locator(".player")
        front, back = (player.locator(f"[data-camera={camera}] video") for camera in ("front", "back"))
        console.plays(front)
        console.plays(back)
        console.until("""(front, back, shift) => Math.abs(front.currentTime - back.currentTime - shift) < 0.08""",
                      front.element_handle(), back.element_handle(), stage.content.ready["offset_seconds"])
        expect(player.locator(".is-top")).to_have_attribute("data-camera", "front")
        player.get_by_role("button", name=re.compile("^Swap")).click()
        expect(player.locator(".is-top")).to_have_attribute("data-camera", "back")
        player.get_by_role("button", name="Composed").click()
        console.plays(player.locator(".player-layer:not([hidden]) video"))
        expect(console.main.get_by_text("How calm")).to_be_visible()
        console.picture("post-watch")


def player_keys(stage):
    """keys move the player and the frames from where the person stands, and controls keep their own"""
    with opened(Console(stage, address=f"post/{stage.content.ready['id']}")) as console:
        player, keyboard = console.main.locator(".player"), console.page.keyboard
        top = player.locator(".is-top")
        expect(top).to_have_attribute("data-camera", "front")
        expect(console.main).to_be_focused()
        keyboard.press("s")
        expect(top).to_have_attribute("data-camera", "back")
        keyboard.press(".")
        expect(player.get_by_role("button", name="Play", exact=True)).to_be_visible()
        clock, before = player.locator(".player-clock"), player.locator(".player-clock").inner_text()
        keyboard.press(".")
        expect(clock).not_to_have_text(before)
        # A control takes its own keys, and arrow keys in the list of parts stay there.
        tab = console.page.get_by_role("tab", name="Watch")
        tab.focus()
        keyboard.press("s")
        expect(top).to_have_attribute("data-camera", "back")
        keyboard.press("ArrowRight")
        expect(console.page.get_by_role("tab", name="Files")).to_be_focused()
        console.page.get_by_role("tab", name="Frames").click()
        expect(console.page.get_by_role("tabpanel")).to_be_focused()
        keyboard.press("ArrowRight")
        expect(console.main.locator(".lanes figure").filter(has_text="composed").locator("figcaption .number")).to_contain_text("frame 1 of")
        console.page.get_by_role("tab", name="Watch").focus()
        keyboard.press("Enter")
        expect(player).to_be_focused()


def files(stage):
    """the files have the properties of the samples and of the outputs"""
    with part(stage, "files") as console:
        table = console.main.get_by_role("table", name="Properties of the sources and of the outputs")
        for row in ("h264", "1080×1920", "bt709", "place, device"):
            expect(table).to_contain_text(row)
        expect(table.get_by_role("columnheader")).to_contain_text(["source front", "clip.front", "source back", "clip.back", "composed"])
        expect(table.get_by_role("row").filter(has_text="Rotation")).to_contain_text("90°")
        roles = console.main.get_by_role("table", name="All media files of the post")
        for role in stage.content.ready["assets"]:
            expect(roles.get_by_text(role, exact=True)).to_be_visible()
        console.picture("post-files")


def frames(stage):
    """frames step one by one in all three videos, by keys too"""
    with part(stage, "frames") as console:
        composed = console.main.locator(".lanes figure").filter(has_text="composed")
        video, note = composed.locator("video"), composed.locator("figcaption .number")
        expect(note).to_contain_text("frame 0 of 0–")
        first = video.evaluate(PIXELS)
        for _ in range(3):
            console.button("Ten frames on").click()
        expect(note).to_contain_text("frame 30 of")
        console.until("video => Math.abs(video.currentTime - 1.0167) < 0.02 && !video.seeking", video.element_handle())
        assert difference(first, video.evaluate(PIXELS)) > 16, "frame 30 is frame 0"
        console.page.keyboard.press("ArrowRight")
        expect(note).to_contain_text("frame 31 of")
        console.page.keyboard.press("Shift+ArrowLeft")
        expect(note).to_contain_text("frame 21 of")
        shift = round(stage.content.ready["offset_seconds"] * 30)
        name = "front" if shift > 0 else "back"
        late = console.main.locator(".lanes figure").filter(has=console.page.get_by_text(name, exact=True))
        expect(late.locator("figcaption .number")).to_contain_text(f"frame {21 + abs(shift)} of")
        console.picture("post-frames")


def sound(stage):
    """the sounds lie above each other at the offset of the service"""
    with part(stage, "sound") as console:
        offset = round(stage.content.ready["offset_seconds"] * 1000)
        wave = console.main.locator("svg.wave")
        expect(wave).to_have_attribute("aria-label", re.compile(f"shifted by {offset} ms"))
        expect(console.main.locator("svg.agreement")).to_have_attribute("aria-label", re.compile("agree most at"))
        best = int(re.search(r"at (-?\d+) ms", console.main.locator("svg.agreement").get_attribute("aria-label"))[1])
        assert abs(best - offset) <= 10, (best, offset)
        expect(console.part("How they were aligned")).to_contain_text(f"{offset} ms")
        former = wave.locator(".wave-back").get_attribute("transform")
        slider = console.main.get_by_role("slider", name="Offset of the back clip in seconds")
        slider.focus()
        console.page.keyboard.press("PageUp")
        expect(wave.locator(".wave-back")).not_to_have_attribute("transform", former)
        console.picture("post-sound")


def colour(stage):
    """the same frame is measured before and after, and the means are near"""
    with part(stage, "colour") as console:
        expect(console.main.get_by_role("table", name="Colours of the sources and of the composition")).to_contain_text("BT.709")
        means = console.main.get_by_text(re.compile(r"The means differ by [\d.]+ of 255"))
        expect(means).to_have_count(2)
        for text in means.all_inner_texts():
            assert float(re.search(r"[\d.]+", text)[0]) < 6, text
        console.picture("post-colour")


def privacy(stage):
    """what identified the place and the device is named, and found in no output"""
    with part(stage, "privacy") as console:
        found = console.main.get_by_role("table", name="Identifying metadata of the sources")
        expect(found).to_contain_text("the place")
        expect(found).to_contain_text("the device")
        check = console.part("The check")
        expect(check).to_contain_text(f"{len(stage.content.ready['assets'])} files with")
        expect(check).to_contain_text("none identifies anything")
        console.page.get_by_label("A clip or a photo as the phone made it").set_input_files(SAMPLES / "back.mp4")
        expect(console.part("Try the check on a file of yours")).to_contain_text("user data")
        console.picture("post-privacy")


def definition(stage):
    """another layout is drawn at once: the inset moves on the canvas"""
    with part(stage, "definition") as console:
        canvas = console.page.get_by_role("img", name="What this definition would make")
        before = canvas.evaluate(PIXELS)
        console.page.get_by_label("Corner").select_option("bottom-right")
        after = canvas.evaluate(PIXELS)

        def at(pixels, x, y):
            return pixels[4 * (32 * y + x):][:3]

        assert difference(at(before, 5, 5), at(after, 5, 5)) > 16 and difference(at(before, 26, 26), at(after, 26, 26)) > 16
        console.page.get_by_role("slider", name="Margin").fill("240")
        expect(console.main.get_by_role("link", name="Download mine.json")).to_be_visible()
        with console.page.expect_download() as download:
            console.main.get_by_role("link", name="Download mine.json").click()
        text = download.value.path().read_text()
        assert '"corner": "bottom-right"' in text and '"margin": 240' in text, text
        console.page.get_by_role("slider", name="Width").fill("0.8")
        expect(console.main.get_by_text("The inset extends beyond the canvas")).to_be_visible()
        console.picture("post-definition")


def attempts(stage):
    """the view shows the attempts of the job, with its decisions and its log"""
    with part(stage, "attempts") as console:
        expect(console.part("Attempts")).to_contain_text("1 of at most 5 attempts")
        expect(console.part("Attempts")).to_contain_text("no lease lost")
        expect(console.part("Attempts")).to_contain_text("Completed: the media were accepted")
        expect(console.part("Verdict and decisions")).to_contain_text("each with its reason")
        expect(console.part("In the log").locator("code").filter(has_text="journalctl")).to_be_visible()
        console.picture("post-attempts")


def rejected(stage):
    """a rejected post says why"""
    with opened(Console(stage, address=f"post/{stage.content.rejected['id']}")) as console:
        reasons = console.main.get_by_role("list", name="Reasons")
        expect(reasons).to_contain_text("The video is damaged")
        expect(reasons).to_contain_text("front clip")
        console.picture("post-rejected")


def live(stage):
    """a post that is processed shows its first look, then its result"""
    post = stage.content.moment(stage.content.new("live"), waits=False)
    with opened(Console(stage, address=f"post/{post['id']}")) as console:
        expect(console.main.locator(".post-head .badge").first).to_have_text("ready")
        console.plays(console.main.locator(".player video").first)


TESTS = (watch, player_keys, files, frames, sound, colour, privacy, definition, attempts, rejected, live)
