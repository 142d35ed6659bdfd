"""The page that films, on a phone: two clips become a moment that plays."""

from playwright.sync_api import expect

from console import PHONE, Console, Page, opened
from content import camera_clip


def phone(stage):
    return Page(stage, size=PHONE, has_touch=True, is_mobile=True, device_scale_factor=2)


def sign_in(page, key):
    page.page.goto(f"{page.stage.service.url}/film")
    expect(page.page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.page.get_by_text("With a token or a key").tap()
    page.page.get_by_label("User token or API key").fill(key)
    page.page.get_by_role("button", name="Continue").tap()
    expect(page.page.get_by_role("heading", name="One moment, both cameras")).to_be_visible()


def choose(page, name):
    for camera in ("front", "back"):
        page.page.locator(f"#{camera}-file").set_input_files(
            {"name": f"{camera}.mp4", "mimeType": "video/mp4", "buffer": camera_clip(name, camera)})
        expect(page.page.locator(f".camera[data-camera={camera}]")).to_contain_text("film again")


def user(stage):
    """a user with a token films a moment, which is composed and plays"""
    content = stage.content
    user = content.new("filmer")
    content.request("PUT", f"/v1/users/{user}", {"name": "Film Maker"})
    token = content.request("POST", f"/v1/users/{user}/tokens", {})["token"]
    with opened(phone(stage)) as page:
        sign_in(page, token)
        expect(page.page.get_by_label("Author")).to_be_hidden()
        expect(page.page.locator("#who")).to_have_text("Film Maker")
        page.fits()
        choose(page, user)
        page.page.get_by_label("Caption").fill("From a phone")
        page.picture("film-chosen")
        page.page.get_by_role("button", name="Post the moment").tap()
        expect(page.page.get_by_role("heading", name="Your moment")).to_be_visible()
        expect(page.page.locator("#stage")).to_have_attribute("data-mode", "composed")
        page.plays(page.page.locator("#composed"))
        page.fits()
        page.picture("film-moment")
        page.page.get_by_role("button", name="Swap the cameras").tap()
        expect(page.page.locator("#stage")).to_have_attribute("data-mode", "clips")
        page.plays(page.page.locator("#stage .clip[data-camera=back]"))
        [post] = content.request("GET", f"/v1/posts?author={user}")["items"]
        assert post["caption"] == "From a phone" and post["status"] == "ready", post
        assert token not in page.page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href])")
        page.page.get_by_role("button", name="Film another moment").tap()
        expect(page.page.get_by_role("button", name="Post the moment")).to_be_disabled()


def refused(stage):
    """a clip that is none is refused in words, and its camera is marked"""
    content = stage.content
    token = content.request("POST", f"/v1/users/{content.new('filmer')}/tokens", {})["token"]
    with opened(phone(stage), ("status of 4",)) as page:
        sign_in(page, token)
        choose(page, "none")
        page.page.locator("#back-file").set_input_files({"name": "back.txt", "mimeType": "text/plain", "buffer": b"words"})
        expect(page.page.locator(".camera[data-camera=back]")).to_contain_text("This is not a video")
        page.page.locator("#back-file").set_input_files({"name": "back.mp4", "mimeType": "video/mp4", "buffer": b"no clip" * 9999})
        page.page.get_by_role("button", name="Post the moment").tap()
        alert = page.page.get_by_role("alert")
        expect(alert).to_contain_text("These clips do not make a moment")
        expect(alert).to_contain_text("Back clip: The format of the file is not supported")
        expect(page.page.locator(".camera[data-camera=back]")).to_have_attribute("data-state", "bad")
        page.picture("film-refused")


def operator(stage):
    """who is signed in to the console films for a user"""
    with opened(Console(stage, address="jobs", size=PHONE)) as console:
        page = console.page
        page.goto(f"{stage.service.url}/film")
        expect(page.get_by_role("heading", name="One moment, both cameras")).to_be_visible()
        name = stage.content.new("filmed")
        choose(console, name)
        page.get_by_label("Author").fill(name)
        page.get_by_role("button", name="Post the moment").click()
        expect(page.get_by_role("heading", name="Your moment")).to_be_visible()
        assert [post["status"] for post in stage.content.request("GET", f"/v1/posts?author={name}")["items"]] == ["ready"]


TESTS = (user, refused, operator)
