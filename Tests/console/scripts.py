"""Scripts in every text that a user can write, in names of files and in the metadata of clips: they stand on the screen as text, and
none runs."""

import json
import subprocess
import urllib.parse

from playwright.sync_api import expect

import submitting
from console import DESK, PHONE, Console, Page, opened
from content import BERLIN, camera_clip, coordinate
from reach import addresses
from service import SAMPLES


def hostile(place):
    """A text that would run in markup, in an attribute or in a script. It says where it was written."""
    return f"\"'><img src=x onerror=\"window.__pwned='{place}'\"><script>window.__pwned='{place}'</script>{{{{{place}}}}}"


# An id is part of addresses too.
USER = "<img src=x onerror=\"window.__pwned='id'\">"


def segment(text):
    return urllib.parse.quote(text, safe="")


def clip_with_metadata(stage, camera):
    """A clip whose metadata have scripts."""
    path = stage.folder / f"hostile-{camera}.mp4"
    subprocess.run(
        ["ffmpeg", "-loglevel", "error", "-y", "-i", SAMPLES / f"{camera}.mp4", "-codec", "copy", "-movflags", "+use_metadata_tags",
         *(argument for name in ("title", "artist", "comment", "make", "com.apple.quicktime.model", "<b>name")
           for argument in ("-metadata", f"{name}={hostile(name)}")),
         "-metadata:s:v:0", f"handler_name={hostile('handler')}", path], check=True)
    return path.read_bytes()


def written(stage):
    """Writes all of it; returns what the views are about."""
    content = stage.content
    content.request("PUT", f"/v1/users/{segment(USER)}", {
        "name": hostile("name"), "given_name": hostile("given"), "family_name": hostile("family"), "bio": hostile("bio"),
        "fields": {"motto": hostile("motto")}})
    texts = {"title": hostile("title"), "caption": hostile("caption"), "alternative_text": hostile("words")}
    post = content.moment(USER, clip_with_metadata(stage, "front"), clip_with_metadata(stage, "back"), place=BERLIN,
                          fields=json.dumps({"genre": hostile("genre")}), **texts)
    assert post["status"] == "ready", post
    place = hostile("place")
    marker = content.request("POST", "/v1/posts", {
        "kind": "marker", "author": USER, **texts, "place": {"id": place, "name": hostile("place-name"), "coordinate": coordinate(BERLIN)}})
    comment = content.request("POST", f"/v1/posts/{post['id']}/comments", {"author": USER, "text": hostile("comment")})
    content.form("POST", f"/v1/posts/{post['id']}/reactions", {"author": USER, "alternative_text": hostile("reaction")},
                 [("image", "face.jpg", content.photo_bytes)], Prefer="wait=50")
    album = content.request("POST", "/v1/collections", {
        "kind": "itinerary", "name": hostile("trip"), "visibility": "public", "fields": {"lodging": hostile("lodging")},
        "items": [{"place": place, "note": hostile("note")}]}, user=USER)
    content.request("PUT", f"/v1/users/{segment(USER)}/likes/{post['id']}", user=USER)
    content.request("PUT", f"/v1/users/bob/friends/{segment(USER)}", user="bob")
    content.request("POST", f"/v1/users/{segment(USER)}/tokens", {"device": hostile("device")})
    found = []
    for kind, subject in (("post", marker["id"]), ("comment", comment["id"]), ("user", USER), ("place", place),
                          ("collection", album["id"])):
        content.request("POST", "/v1/reports", {kind: subject, "reason": hostile("reason")[:200], "text": hostile("report")}, user="bob")
        cases = content.request("GET", "/v1/moderation/cases?limit=100")["items"]
        found.append(next(each["id"] for each in cases if each[kind] == subject))
    decided = content.request("POST", "/v1/moderation/cases", {"user": USER, "decision": "approve", "note": hostile("decision")})
    job = content.job("dead", author=USER, error=hostile("error"))
    webhook = content.webhook("https://app.example.org/" + segment(hostile("hook")) + "?a=%3Cscript%3E")
    content.worker(hostile("host"), 1.0)
    return {"post": post, "marker": marker, "cases": [*found, decided["id"]], "job": job, "webhook": webhook["id"], "user": USER}


def stored(stage):
    """no script of a user runs in any view, and the texts stand there as they were written"""
    content = stage.content
    subjects = written(stage)
    seen, wide = "", []
    with opened(Console(stage)) as console:
        views = [
            *addresses(content), f"user/{segment(USER)}", f"job/{subjects['job']}", f"webhook/{subjects['webhook']}",
            *(f"case/{case}" for case in subjects["cases"]), f"post/{subjects['marker']['id']}",
            *(f"post/{subjects['post']['id']}?tab={tab}" for tab in
              ("watch", "files", "frames", "sound", "colour", "privacy", "definition", "attempts")),
            f"job/{subjects['post']['job']['id']}", f"moments?at={BERLIN[1]},{BERLIN[0]},14&span=all&visibility=any",
            f"moments?tab=calendar&author={segment(USER)}", "moments?tab=feed&status=any", f"jobs?author={segment(USER)}&state=dead",
            f"people?query={segment(USER)}",
        ]
        for address in views:
            console.go(address)
            # What is closed has texts too.
            console.page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
            assert console.page.locator("img[src=x], script:not([src])").count() == 0, address
            seen += console.page.evaluate("""document.body.innerText
                + [...document.querySelectorAll("input, textarea")].map(each => each.value).join()
                + [...document.querySelectorAll("[title], [aria-label], [alt]")].map(each => each.title + each.ariaLabel + each.alt).join()""")
            # Texts that are so long are no wider than a phone.
            console.page.set_viewport_size(PHONE)
            wide += console.too_wide()
            console.page.set_viewport_size(DESK)
            console.check()
        assert not wide, "\n".join(wide)
        for place in ("name", "given", "family", "bio", "motto", "title", "caption", "words", "genre", "place", "place-name", "comment",
                      "trip", "lodging", "note", "report", "decision", "error", "host", "device", "reaction", "reason"):
            assert f"__pwned='{place}'" in seen, f"{place} was not on the screen"


def files(stage):
    """no script in the name of a file or in what a person types runs"""
    name = "<img src=x onerror=window.__pwned='file'>.mp4"
    with opened(Console(stage, address="submit"), submitting.REFUSED) as console:
        submitting.choose(console, USER, files=[(name, camera_clip("named", "front")), (f"back {name}", camera_clip("named", "back"))],
                          caption=hostile("typed"), title=hostile("typed"))
        expect(console.main.get_by_text(name, exact=True)).to_be_visible()
        console.button("Submit").click()
        expect(submitting.state(console)).to_have_text("ready")
        submitting.choose(console, USER, files=[(name, b"no clip" * 10000), (f"back {name}", camera_clip("other", "back"))])
        console.button("Submit").click()
        expect(submitting.state(console)).to_have_text("refused")
        console.page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
        console.go(f"people?query={segment(hostile('query'))}")
        console.go(f"jobs?error={segment(hostile('filter'))}&author={segment(USER)}")
        console.go(f"post/{stage.content.ready['id']}?tab=privacy")
        console.page.get_by_label("A clip or a photo as the phone made it").set_input_files(
            {"name": name, "mimeType": "video/mp4", "buffer": clip_with_metadata(stage, "front")})
        expect(console.part("Try the check on a file of yours")).to_contain_text(name)
        assert console.page.locator("img[src=x]").count() == 0


def addresses_of_strangers(stage):
    """no script in an address runs, in the console or on the page that films"""
    with opened(Console(stage), ("status of 40[0-9]",)) as console:
        for view in ("post", "job", "user", "case", "webhook", "run", "jobs?state=", "moments?tab=", "people?tab=", "<b>"):
            text = segment(hostile("address"))
            console.page.goto(f"{console.url}#/{view}{'' if view.endswith('=') else '/'}{text}")
            expect(console.main.locator("h1").first).to_be_visible()
            expect(console.main.get_by_text("Loading…", exact=True)).to_have_count(0)
            assert console.page.locator("img[src=x]").count() == 0, view
    with opened(Page(stage), ("status of 40[0-9]",)) as page:
        page.page.goto(f"{stage.service.url}/film?{segment(hostile('film'))}#{segment(hostile('film'))}")
        expect(page.page.get_by_role("heading").first).to_be_visible()
        assert page.page.locator("img[src=x]").count() == 0


def dots_in_addresses(stage):
    """no id in an address reaches another resource than its own"""
    with opened(Console(stage), ("status of 40[0-9]",)) as console:
        asked = []
        console.page.on("request", lambda request: asked.append(request.url.removeprefix(stage.service.url)))
        for view in ("run", "webhook", "case", "job", "post", "user"):
            for id in ("..%2F..%2Fposts", "..", "%2e%2e/posts", "x%2f..%2f..%2fposts"):
                asked.clear()
                console.page.goto("about:blank")
                console.page.goto(f"{console.url}#/{view}/{id}")
                expect(console.main.locator("h1").first).to_be_visible()
                expect(console.main.get_by_text("Loading…", exact=True)).to_have_count(0)
                # The menu counts the open cases.
                reads = [url for url in asked if url.startswith("/v1/") and not url.startswith("/v1/moderation/cases?state=open")]
                assert all("%2F" in url for url in reads), (view, id, reads)


TESTS = (stored, files, addresses_of_strangers, dots_in_addresses)
