"""The view Store: what it holds, and runs of reprocessing."""

import datetime
import re

from playwright.sync_api import expect

from console import Console, opened


def holds(stage):
    """the view shows the sums of the service, and whether the disk becomes full"""
    content = stage.content
    content.ready
    with opened(Console(stage, address="store")) as console:
        usage = content.request("GET", "/v1/operations/store")
        roles = console.part("By role").get_by_role("table")
        for role in usage["roles"]:
            expect(roles.get_by_role("row").filter(has=console.page.get_by_role("rowheader", name=role["role"], exact=True))) \
                .to_contain_text(f"{role['assets']:,}")
        ages = console.part("By age").get_by_role("row").filter(has_text="of the last day")
        [files] = [each["count"] for each in usage["blobs"]["ages"] if each["age"] == "day"]
        expect(ages).to_contain_text(f"{files:,}")
        assert sum(each["bytes"] for each in usage["blobs"]["ages"]) == usage["blobs"]["bytes"]
        expect(console.part("Space")).to_contain_text("It is too early to say how fast the store grows")
        expect(console.part("Damaged files")).to_contain_text("None is known.")
        expect(console.part("Look after it").locator("code").filter(has_text="take5 verify --deep")).to_be_visible()
        console.picture("store")


def grows(stage):
    """how long it takes until the disk is full is an estimate, by what came in on whole days"""
    gib = 1 << 30
    stage.content.ready
    for first, day, week, words in (
            (-40, 1, 0, "about 3 months"), (-40, 0.1, 0, "about 3 years"), (-2, 1, 1, "about 3 months"), (-40, 0, 0, "Nothing came in")):
        with opened(Console(stage)) as console:
            def store(route):
                response = route.fetch()
                usage = response.json()
                at = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=first)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
                ages = [{"age": age, "count": 1, "bytes": int(size * gib)} for age, size in (("day", day), ("week", week), ("month", 0), ("older", 0))]
                route.fulfill(response=response, json={**usage, "blobs": {**usage["blobs"], "first_at": at, "ages": ages}})

            def operations(route):
                response = route.fetch()
                route.fulfill(response=response, json={**response.json(), "storage": {"free_bytes": 101 * gib, "min_free_bytes": gib}})

            console.page.route("**/v1/operations/store", store)
            console.page.route("**/v1/operations", operations)
            console.go("store")
            expect(console.part("Space")).to_contain_text(words)
            console.page.unroute_all(behavior="ignoreErrors")


def run(stage):
    """a run is estimated, started, paused, resumed and cancelled"""
    content = stage.content
    content.ready
    with opened(Console(stage, address="store?tab=runs")) as console:
        form = console.part("New run")
        form.get_by_label("take5", exact=True).check()
        form.get_by_label("Authors").fill("ada")
        form.get_by_label("Items a second").fill("0.01")
        form.get_by_label("Also items whose outputs would not change").check()
        form.get_by_role("button", name="Estimate").click()
        expect(form).to_contain_text("CPU time")
        expect(form).to_contain_text("take5-post")
        console.picture("store-estimate")
        form.get_by_role("button", name=re.compile("^Start the run of ")).click()
        console.answer("Start the run")
        console.says("The run is started.")
        card = console.main.locator("article.run").first
        expect(card).to_contain_text("authors: ada")
        card.get_by_role("button", name="Pause").click()
        expect(card.locator(".badge")).to_have_text("paused")
        card.get_by_role("link").click()
        console.drawn("run")
        expect(console.part("What it does")).to_contain_text("0.01 items a second")
        console.button("Resume").click()
        expect(console.part("Progress").locator(".badge")).to_have_text("running")
        console.picture("run")
        console.button("Cancel…").click()
        console.answer("Cancel the run")
        expect(console.part("Progress").locator(".badge")).to_have_text("cancelled")
        assert content.request("GET", "/v1/operations/runs")["items"][0]["state"] == "cancelled"


def progress(stage):
    """a run moves on the screen, and what it makes is offered where the post is open"""
    content = stage.content
    post = content.photo(content.new("again"))
    content.request("POST", "/v1/operations/runs", {"kinds": ["photo"], "authors": [post["author"]], "is_forced": True})
    with opened(Console(stage, address="store?tab=runs")) as console:
        card = console.main.locator("article.run").filter(has_text=post["author"])
        expect(card.locator(".badge")).to_have_text("finished")
        expect(card).to_contain_text("1 of 1 item (100 %)")


TESTS = (holds, grows, run, progress)
