"""The view People: users, cases, webhooks and the daily window."""

import contextlib
import http.server
import re
import threading

from playwright.sync_api import expect

from console import Console, opened
from service import wait_until


def users(stage):
    """a user is found by name, and has posts, friends and cases"""
    content = stage.content
    content.ready
    content.request("PUT", f"/v1/users/bob/friends/{content.ada}", user="bob")
    content.request("PUT", f"/v1/users/{content.ada}/friends/bob", user=content.ada)
    with opened(Console(stage, address="people")) as console:
        console.page.get_by_label("Name, user name or id").fill("lovel")
        console.link(re.compile("Ada Lovelace")).click()
        console.drawn("user")
        expect(console.part("Profile")).to_contain_text("Numbers")
        expect(console.part("Posts").get_by_role("link").first).to_be_visible()
        expect(console.part("Friends")).to_contain_text("Bob Müller")
        expect(console.part("Devices")).to_contain_text("No device gets notifications.")
        console.picture("user")


def nameless(stage):
    """a user whose name is empty or has blanks alone breaks no view, and is suspended there"""
    content = stage.content
    for name in ("", "  "):
        user = content.new("nameless")
        content.request("PUT", f"/v1/users/{user}", {"name": "Someone"})
        # Names that were stored before they were refused.
        content.sql(f"UPDATE app_user SET name = '{name}' WHERE id = '{user}'")
        post = content.marker(user, title="Without a name")
        content.request("POST", "/v1/reports", {"user": user, "reason": "spam"}, user="bob")
        case = next(each for each in content.request("GET", "/v1/moderation/cases?limit=100")["items"] if each["user"] == user)
        with opened(Console(stage, address="people")) as console:
            expect(console.main.locator(".user-card", has_text=user).locator("strong")).to_have_text(user)
            console.go(f"case/{case['id']}")
            expect(console.part("What it is about")).to_contain_text(user)
            for address in (f"post/{post['id']}", "people?tab=cases", "moments?tab=feed"):
                console.go(address)
            expect(console.main.locator(".feed-author").first).to_have_text(user)
            console.go(f"user/{user}")
            expect(console.main.locator("h1")).to_have_text(user)
            expect(console.main.locator(".user-head .avatar")).to_have_text("N")
            console.button("Suspend…").click()
            console.answer("Suspend")
            console.says("The user is suspended.")


def suspended(stage):
    """a user is suspended with a note, and approved again"""
    content = stage.content
    user = content.new("troll")
    content.marker(user)
    with opened(Console(stage, address=f"user/{user}")) as console:
        console.button("Suspend…").click()
        console.answer("Suspend", note="shouts")
        console.says("The user is suspended.")
        expect(console.main.locator(".user-head .badge")).to_have_text("suspended")
        console.button("Approve…").click()
        console.answer("Approve")
        console.says("The user is not suspended.")
        expect(console.main.locator(".user-head .badge")).to_have_count(0)


def exported(stage):
    """everything of a user is saved as an archive, and the user is deleted after the id is typed"""
    content = stage.content
    user = content.new("gone")
    content.marker(user)
    with opened(Console(stage, address=f"user/{user}")) as console:
        with console.page.expect_download() as download:
            console.button("Export").click()
        assert download.value.suggested_filename == f"{user}.zip"
        assert download.value.path().read_bytes()[:2] == b"PK"
        console.button("Delete…").click()
        delete = console.page.locator("dialog[open]").get_by_role("button", name="Delete the user")
        expect(delete).to_be_disabled()
        console.answer("Delete the user", typed=user)
        console.drawn("job")
        expect(console.main.locator(".post-head .badge").first).to_have_text("completed")
        assert content.request("GET", f"/v1/posts?author={user}")["items"] == []


def cases(stage):
    """a report opens a case that appears by itself; a key decides it, and today's list has it"""
    content = stage.content
    content.ada
    with opened(Console(stage, address="people?tab=cases")) as console:
        expect(console.main.get_by_text("live", exact=True)).to_be_visible()
        post, case = content.case()
        opened_case = console.main.locator(f"a[href='#/case/{case['id']}']").first
        expect(opened_case).to_contain_text("1 report")
        expect(opened_case).to_contain_text("Buy gold")
        console.picture("cases")
        opened_case.click()
        console.drawn("case")
        expect(console.part("1 report")).to_contain_text("The third today")
        expect(console.part("What it is about")).to_contain_text("Buy gold")
        console.page.get_by_label("Note for other moderators").fill("gold again")
        console.page.keyboard.press("Escape")
        console.picture("case")
        console.page.keyboard.press("h")
        console.says("Decided: hide.")
        expect(console.part("Decision").locator(".badge")).to_have_text("hide")
        assert content.request("GET", f"/v1/posts/{post['id']}")["status"] == "hidden"
        console.go("people?tab=cases")
        today = console.part("Decided today")
        expect(today).to_contain_text("gold again")
        expect(today.get_by_role("table")).to_contain_text("operator")


class Receiver(http.server.BaseHTTPRequestHandler):
    """A back-end that accepts all messages."""

    def do_POST(self):
        self.server.received.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def receiver():
    """A back-end on this machine: its address, and what it has received."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    server.received = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with contextlib.closing(server.socket):
        yield f"http://127.0.0.1:{server.server_port}/hook", server.received
        server.shutdown()


def webhooks(stage):
    """a webhook is made, gets an event, sends it again, is disabled and deleted"""
    content = stage.content
    content.ready
    with receiver() as (url, received), opened(Console(stage, address="people?tab=webhooks")) as console:
        form = console.part("New webhook")
        form.get_by_label("Address").fill(url)
        form.get_by_label("comment", exact=True).check()
        form.get_by_role("button", name="Create").click()
        secret = console.page.locator("dialog[open]")
        expect(secret).to_contain_text("whsec_")
        secret.get_by_role("button", name="Done").click()
        content.request("POST", f"/v1/posts/{content.ready['id']}/comments", {"author": "bob", "text": "Again"})
        console.link(url, exact=False).click()
        console.drawn("webhook")
        delivery = console.part("Deliveries").get_by_role("listitem").first
        expect(delivery.locator(".badge")).to_have_text("delivered")
        expect(delivery).to_contain_text("status 204")
        console.picture("webhook")
        delivery.get_by_role("button", name="Send again").click()
        console.says("It will be sent again.")
        wait_until(lambda: len(received) == 2, "the message comes again")
        assert received[0] == received[1]
        console.button("Disable…").click()
        console.answer("Disable")
        expect(console.part("The webhook").locator(".badge").first).to_have_text("disabled")
        console.button("Enable").click()
        expect(console.part("The webhook").locator(".badge").first).to_have_text("enabled")
        console.button("Another secret…").click()
        console.answer("Make another secret")
        expect(console.page.locator("dialog[open]")).to_contain_text("whsec_")
        console.page.locator("dialog[open]").get_by_role("button", name="Done").click()
        console.button("Delete…").click()
        console.answer("Delete")
        console.drawn("people")
        expect(console.link(url, exact=False)).to_have_count(0)


def window(stage):
    """a schedule of the daily window is previewed, set and removed"""
    with opened(Console(stage, address="people?tab=window"), ("status of 400", "status of 422")) as console:
        schedule = console.page.get_by_label("Another schedule")
        schedule.fill("every day at noon")
        expect(console.part("Schedule").get_by_role("alert")).to_be_visible()
        schedule.fill("5m in 09:00-21:00 Europe/Berlin")
        expect(console.part("Schedule")).to_contain_text("09:00 to 21:00, for 5 min")
        # The command does what the form would.
        expect(console.part("Schedule").locator(".command code")).to_have_text("take5 window set '5m in 09:00-21:00 Europe/Berlin'")
        console.picture("window")
        console.button("Set the schedule…").click()
        console.answer("Set the schedule")
        console.says("The schedule is set.")
        assert stage.content.request("GET", "/v1/window/schedule")["schedule"] == "5m in 09:00-21:00 Europe/Berlin"
        console.button("Return to the option…").click()
        console.answer("Return")
        console.says("The schedule is removed.")
        expect(console.part("Schedule").locator(".facts").first).to_contain_text("none")


TESTS = (users, nameless, suspended, exported, cases, webhooks, window)
