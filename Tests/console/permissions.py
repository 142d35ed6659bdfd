"""What a key permits: each action works with exactly the scopes that it needs, and says what is missing without them."""

import dataclasses
import functools
import re
import typing

from playwright.sync_api import expect

import submitting
from console import Console, opened


@dataclasses.dataclass
class Action:
    # Makes what the action is about, and returns the address of its view.
    subject: typing.Callable
    # Where in the view the button is, and its name.
    part: str
    name: str
    # The scopes that the view needs, and what the action needs besides.
    view: str
    scope: str | None
    # What the note says in the end, and the button of the question with its fields.
    says: str
    answer: str | None = None
    fields: typing.Callable = lambda address: {}
    # What is filled in before, by the labels of the fields.
    before: dict = dataclasses.field(default_factory=dict)


def post(content):
    return f"post/{content.marker(content.new('author'))['id']}"


def hidden(content):
    post = content.marker(content.new("author"))
    content.request("POST", "/v1/moderation/cases", {"post": post["id"], "decision": "hide"})
    return f"post/{post['id']}"


def moment(content):
    return f"post/{content.ready['id']}"


def commented(content):
    address = post(content)
    content.request("POST", f"/v1/posts/{address[5:]}/comments", {"author": "bob", "text": "Nice"})
    return address


def reacted(content):
    address = post(content)
    content.form("POST", f"/v1/posts/{address[5:]}/reactions", {"author": "bob"}, [("image", "face.jpg", content.photo_bytes)],
                 Prefer="wait=50")
    return address


def user(content):
    name = content.new("user")
    content.request("PUT", f"/v1/users/{name}", {"bio": "It is me"})
    content.request("POST", f"/v1/users/{name}/tokens", {})
    return f"user/{name}"


def job(state, view="job"):
    def make(content):
        author = content.new("author")
        found = content.job(state, author=author, error="out of paper")
        return f"job/{found}" if view == "job" else f"jobs?author={author}&state={state}"

    return make


def case(content):
    return f"case/{content.case()[1]['id']}"


def quarantined(content):
    content.quarantine()
    return "jobs?tab=quarantine"


def run(state):
    def make(content):
        content.ready
        found = content.run(authors=["ada"])["id"]
        if state == "paused":
            content.request("PATCH", f"/v1/operations/runs/{found}", {"state": state})
        return f"run/{found}"

    return make


def webhook(state):
    def make(content):
        found = content.webhook()["id"]
        if state == "disabled":
            content.request("PATCH", f"/v1/webhooks/{found}", {"state": state})
        return f"webhook/{found}"

    return make


def schedule(content):
    content.request("PUT", "/v1/window/schedule", {"schedule": "18:00-18:05 Europe/Berlin"})
    return "people?tab=window"


def typed(address):
    return {"typed": address.partition("/")[2]}


ACTIONS = [
    Action(post, ".post-head", "Hide", "read", "moderate", "The post is hidden", "Hide"),
    Action(hidden, ".post-head", "Approve", "read", "moderate", "The post is approved", "Approve"),
    Action(post, ".post-head", "Delete", "read", "delete", "The post is deleted.", "Delete"),
    Action(commented, ".comments", "Hide", "read", "moderate", "The comment is hidden.", "Hide"),
    Action(commented, ".comments", "Delete", "read", "delete", "The comment is deleted.", "Delete"),
    Action(reacted, ".reactions", "Hide", "read", "moderate", "The reaction is hidden.", "Hide"),
    Action(reacted, ".reactions", "Delete", "read", "delete", "The reaction is deleted.", "Delete"),
    Action(job("scheduled"), ".post-head", "Cancel", "read", "admin", "The job is cancelled.", "Cancel the job"),
    Action(job("dead"), ".post-head", "Retry", "read", "admin", "The job is tried again.", "Retry the job"),
    Action(user, ".user-head", "Suspend…", "read", "moderate", "The user is suspended.", "Suspend"),
    Action(user, ".user-head", "Approve…", "read", "moderate", "The user is not suspended.", "Approve"),
    Action(user, ".user-head", "Export", "read", None, "The archive has"),
    Action(user, ".user-head", "Delete…", "read", "delete", "The user is being deleted", "Delete the user", typed),
    Action(user, ".scroll", "End", "read", "delete", "It has ended."),
    Action(user, ".buttons", "End all…", "read", "delete", "All have ended.", "End all"),
    Action(user, ".scroll", "End", "read", "tokens", "It has ended."),
    Action(user, ".buttons", "End all…", "read", "tokens", "All have ended.", "End all"),
    Action(case, ".decide", "Hide h", "moderate,read", None, "Decided: hide."),
    Action(case, ".decide", "Approve a", "moderate", None, "Decided: approve."),
    Action(case, ".decide", "Suspend the author s", "moderate", None, "is suspended.", "Suspend"),
    Action(webhook("enabled"), ".buttons", "Change…", "webhooks", None, "The webhook is changed.", "Save"),
    Action(webhook("enabled"), ".buttons", "Disable…", "webhooks", None, "It is disabled.", "Disable"),
    Action(webhook("disabled"), ".buttons", "Enable", "webhooks", None, "It is enabled."),
    Action(webhook("enabled"), ".buttons", "Delete…", "webhooks", None, "The webhook is deleted.", "Delete"),
    Action(webhook("enabled"), ".card", "Send the failed ones again…", "webhooks", None, "0 messages will be sent again.", "Send again"),
    Action(job("dead", "jobs"), ".long-room", "Retry", "admin", None, "The job is retried."),
    Action(job("scheduled", "jobs"), ".long-room", "Cancel", "admin", None, "The job is cancelled.", "Cancel the job"),
    Action(job("dead", "jobs"), ".spread", "Retry all of the filter…", "admin", None, "1 job of 1 is retried.", "Retry 1 job"),
    Action(job("scheduled", "jobs"), ".spread", "Cancel all of the filter…", "admin", None, "1 job of 1 is cancelled.", "Cancel 1 job"),
    Action(quarantined, ".card", "Release…", "admin", None, "The media are released.", "Release"),
    Action(run("running"), ".card", "Pause", "admin", None, "The run is paused."),
    Action(run("paused"), ".card", "Resume", "admin", None, "The run is running."),
    Action(run("running"), ".card", "Cancel…", "admin", None, "The run is cancelled.", "Cancel the run"),
    Action(schedule, ".buttons", "Set the schedule…", "admin", None, "The schedule is set.", "Set the schedule",
           before={"Another schedule": "18:00-18:05 Europe/Paris"}),
    Action(schedule, ".buttons", "Return to the option…", "admin", None, "The schedule is removed.", "Return"),
]

# The views that need a scope as a whole.
VIEWS = {
    "jobs": "admin", "jobs?tab=quarantine": "admin", "store": "admin", "store?tab=runs": "admin", "run/any": "admin",
    "people?tab=cases": "moderate", "case/any": "moderate", "people?tab=webhooks": "webhooks", "webhook/any": "webhooks",
    "people": "read", "user/any": "read", "moments": "read", "moments?tab=calendar": "read", "moments?tab=feed": "read",
}


@functools.lru_cache
def key(content, scopes):
    """A key with these scopes, the same for all tests."""
    return content.key(*scopes.split(","))[1]


def button_of(console, action):
    return console.main.locator(action.part).get_by_role("button", name=action.name, exact=True).first


def works(stage):
    """each action works with exactly the scopes that it needs"""
    content = stage.content
    for scopes in dict.fromkeys((action.view, action.scope) for action in ACTIONS):
        named = ",".join(filter(None, scopes))
        with opened(Console(stage, key(content, named))) as console:
            for action in ACTIONS:
                if (action.view, action.scope) != scopes:
                    continue
                address = action.subject(content)
                console.go(address)
                for label, text in action.before.items():
                    console.page.get_by_label(label).fill(text)
                button_of(console, action).click()
                if action.answer:
                    console.answer(action.answer, **action.fields(address))
                console.says(action.says)
                console.check()


def denied(console, button, scope):
    """Checks that a button says what it lacks, and does nothing."""
    reason = f"Needs the scope ‘{scope}’, which this sign-in does not have."
    expect(button).to_have_attribute("aria-disabled", "true")
    expect(button).to_have_attribute("title", reason)
    button.focus()
    console.page.keyboard.press("Enter")
    console.says(reason)
    expect(console.page.locator("dialog[open]")).to_have_count(0)


def says_why(stage):
    """each action says which scope it lacks, and sends nothing"""
    content = stage.content
    with opened(Console(stage, key(content, "read"))) as console:
        sent = []
        console.page.on("request", lambda request: request.method == "GET" or sent.append(f"{request.method} {request.url}"))
        for action in ACTIONS:
            # With the scope ‘tokens’ these buttons need it, without it ‘delete’.
            if action.scope and action.scope != "tokens":
                console.go(action.subject(content))
                denied(console, button_of(console, action), action.scope)
        assert sent == [], sent
        console.picture("denied")


def views(stage):
    """a view that needs a scope as a whole names it"""
    with opened(Console(stage, key(stage.content, "events"))) as console:
        expect(console.part("What is missing here")).to_contain_text("need the scope ‘admin’")
        for address, scope in VIEWS.items():
            console.go(address)
            expect(console.main.get_by_text(re.compile(f"This needs the scope {scope}, which this sign-in does not have."))).to_be_visible()
        console.go("submit")
        expect(console.main).to_contain_text("This sign-in lacks ‘submit’ and ‘read’.")


def submits(stage):
    """a submission needs its two scopes, and a job is cancelled with a third one"""
    content = stage.content
    photo = [{"name": "a.jpg", "mimeType": "image/jpeg", "buffer": content.photo_bytes}]
    with opened(Console(stage, key(content, "read"), address="submit")) as console:
        expect(console.main).to_contain_text("This sign-in lacks ‘submit’.")
        denied(console, console.button("Submit"), "submit")
    with opened(Console(stage, key(content, "read,submit"), address="submit")) as console:
        console.main.locator("input[type=file]").set_input_files(photo)
        console.page.get_by_label("Author").fill("heidi")
        console.button("Submit").click()
        expect(console.main.locator(".submission summary .badge")).to_have_text("ready")
    waiting = [content.moment(content.new("ahead"), waits=False) for _ in range(4)]
    for scopes in ("read,submit", "read,submit,admin"):
        with opened(Console(stage, key(content, scopes), address="submit")) as console:
            submitting.choose(console, "heidi")
            console.button("Submit").click()
            cancel = console.button("Cancel the job")
            if "admin" not in scopes:
                denied(console, cancel, "admin")
                continue
            cancel.click()
            console.says("The job ends.")
            expect(submitting.state(console)).to_have_text("failed")
    for each in waiting:
        content.finished(each)


TESTS = (works, says_why, views, submits)
