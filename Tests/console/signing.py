"""Signing in and out: with the operator's key, with others, and without one."""

import json

from playwright.sync_api import expect

from console import Console, opened
from service import KEY

# A refused key is an error to the browser's console.
REFUSED = ("status of 401",)


def sign_in(console, key):
    console.page.get_by_label("Key").fill(key)
    console.page.get_by_role("button", name="Sign in", exact=True).click()


def stored(console):
    """All that a script of the page could read of a sign-in, and what stands in the address and on the screen."""
    return console.page.evaluate("""JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href,
        document.documentElement.outerHTML, history.state])""")


def wrong_key(stage):
    """a wrong key is refused in words, and leaves no cookie"""
    with opened(Console(stage, key=None), REFUSED) as console:
        expect(console.page.get_by_role("heading", name="Sign in")).to_be_visible()
        console.picture("sign-in")
        sign_in(console, "t5_wrong")
        expect(console.page.get_by_role("alert")).to_contain_text("neither a valid API key nor the operator's key")
        assert console.context.cookies() == [], console.context.cookies()
        console.page.evaluate("location.hash = '#/jobs'")
        expect(console.page.get_by_label("Key")).to_be_visible()
        console.picture("sign-in-refused")


def operator(stage):
    """the operator's key signs in; no script can read a secret, and none is stored or in the address"""
    with opened(Console(stage, key=None)) as console:
        sign_in(console, KEY)
        console.drawn("now")
        [cookie] = console.context.cookies()
        assert cookie["httpOnly"] and cookie["sameSite"] == "Strict" and cookie["path"] == "/", cookie
        secret = cookie["value"].rpartition(".")[2]
        assert len(secret) == 64, cookie
        for address in ("jobs", "submit", "people", "now"):
            console.go(address)
            text = stored(console)
            assert KEY not in text and secret not in text, address
        assert json.loads(stored(console))[2] == "", "document.cookie has something"


def reload(stage):
    """a sign-in outlives a reload, and ends with signing out"""
    with opened(Console(stage, address="jobs"), REFUSED) as console:
        console.page.reload()
        console.drawn("jobs")
        console.page.get_by_role("button", name="Sign out").click()
        expect(console.page.get_by_label("Key")).to_be_visible()
        assert console.context.cookies() == [], console.context.cookies()
        console.page.reload()
        expect(console.page.get_by_label("Key")).to_be_visible()
        console.page.evaluate("location.hash = '#/jobs'")
        expect(console.page.get_by_label("Key")).to_be_visible()


def revoked(stage):
    """a revoked key leads to the sign-in by itself"""
    name, key = stage.content.key("read", "admin")
    with opened(Console(stage, key), REFUSED) as console:
        expect(console.page.locator(".who")).to_have_text(name)
        stage.content.command("keys", "revoke", name)
        expect(console.page.get_by_label("Key")).to_be_visible()
        sign_in(console, key)
        expect(console.page.get_by_role("alert")).to_contain_text("neither a valid API key")


def changed_cookie(stage):
    """a cookie that was written by hand or changed signs no one in"""
    with opened(Console(stage), REFUSED) as console:
        [cookie] = console.context.cookies()
        name, expires, code = cookie["value"].split(".")
        for value in (f"{name}.{int(expires) + 3600}.{code}", f"1.{expires}.{code}", f"{name}.{expires}.{'0' * 64}", "operator"):
            console.context.clear_cookies()
            console.context.add_cookies([{**{key: cookie[key] for key in ("name", "domain", "path")}, "value": value}])
            console.page.goto("about:blank")
            console.page.goto(f"{console.url}#/now")
            expect(console.page.get_by_label("Key")).to_be_visible()
            assert not console.main.locator(".tile").count()


def another_tab(stage):
    """a page whose cookie another tab has replaced changes nothing, and begins again under the other name"""
    name, key = stage.content.key("read", "admin")
    job = stage.content.job("scheduled", author=stage.content.new("author"))
    with opened(Console(stage, address=f"job/{job}"), REFUSED) as console:
        expect(console.page.locator(".who")).to_have_text("operator")
        console.context.request.post(f"{console.url}/session", data={"key": key}, headers={"Take5-Console": "1"})
        console.button("Cancel").click()
        console.page.locator("dialog[open]").get_by_role("button", name="Cancel the job").click()
        expect(console.page.locator(".who")).to_have_text(name)
        assert stage.content.request("GET", f"/v1/jobs/{job}")["state"] == "scheduled"
        # Who returns to a page learns of it before a change too.
        console.drawn("job")
        console.context.request.delete(f"{console.url}/session", headers={"Take5-Console": "1"})
        console.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        expect(console.page.get_by_label("Key")).to_be_visible()


TESTS = (wrong_key, operator, reload, revoked, changed_cookie, another_tab)
