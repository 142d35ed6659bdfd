"""A day: from the registration to the sign-out."""

from phones import PASSWORD, ratio
from service import wait_until


def films(stage, secure):
    """a moment is filmed, seen at once and composed"""
    with stage.link(secure) as link:
        phone = stage.phone(link, secure)
        clips = stage.clips(length=None)
        before = link.forwarded
        film = phone.run("film", *clips, "Dusk")
        post = stage.ready(phone.user, "Dusk")
        assert film.line("post ") == f"{post['id']} ready", film.lines
        assert "clip.front" in film.line("look "), film.lines
        assert (post["foreground"], post["location"]["latitude"]) == ("front", 52.52), post
        assert not any(start.startswith("-") for start in film.line("starts ").split()), film.lines
        camera, offset, duration = film.line("player ").split()
        assert camera == "front" and abs(float(offset) - (post["offset_seconds"] or 0)) < 1e-6, film.lines
        assert 4 < float(duration) < 6, film.lines
        assert not phone.queue(), phone.queue()
        return ratio(link, before, *clips)


def shows(stage, secure):
    """another user's screens show the moment with its comments and reactions"""
    with stage.link(secure) as link:
        phone = stage.phone(link, secure)
        post = phone.run("film", *stage.clips(length=None), "Noon").line("submitted ")
        likes = phone.run("like", post)
        assert likes.line("comment ") == f"Where was that? by {phone.name}", likes.lines
        assert (likes.line("bookmarked "), likes.line("bookmarks left ")) == ("true", "0"), likes.lines
        assert f"bookmarks {post}" in likes.lines and likes.line("likes ") == post, likes.lines
        image = phone.run("react", post, stage.selfie()).line("image ")
        assert image.split()[1:] == ["ready", "photo.medium,photo.small,photo.square"], image
        status, read = stage.request(f"/v1/posts/{post}")
        assert read["counts"] == {"comments": 1, "reactions": 1, "likes": 1}, read
        show = phone.run("show")
        assert show.line("row ") == f"{post} Noon Ada true 1", show.lines
        assert show.line("poster ") == show.line("still ") == "true", show.lines
        assert (show.line("take5 "), show.line("photo ")) == ("1", "0"), show.lines
        assert show.line("calendar ") == "1", show.lines
        assert int(show.line("pins ")) >= 1, show.lines
        placeholder = show.line("placeholder ")
        assert placeholder.startswith(("18x32", "32x")) and placeholder.endswith("255]"), placeholder


def sends(stage, secure):
    """requests without a call of their own have the session, and go to the service alone"""
    with stage.link(secure) as link:
        phone = stage.phone(link, secure)
        collect = phone.run("collect", "Spring & more")
        assert collect.line("own ") == "Spring & more", collect.lines
        assert collect.line("deleted ") == "true", collect.lines
        refused = [line for line in collect.lines if line.startswith("refused ")]
        assert len(refused) == 3 and all(line.endswith("is not a path of the service.") for line in refused), collect.lines


def addresses(stage, secure):
    """a URL without a scheme or a host is refused in words, and one that ends in /v1 names the service"""
    with stage.link(secure) as link:
        phone = stage.phone(link, secure)
        url = phone.url
        for wrong in ("api.localhost", "localhost:8080", "https:///v1", f"{url}?a=b"):
            phone.url = wrong
            for command in (("window",), ("sign-in", phone.name, PASSWORD), ("events", "-", "1")):
                code, message, remedy = phone.run(*command).line("error ").split(" | ")
                assert code == "client" and message == f'"{wrong}" is not the URL of a service.' and "https://" in remedy, message
        for right in (f"{url}/v1", f"{url}//", f"{url}/v1/"):
            phone.url = right
            phone.run("window").line("window ")


def filters(stage, secure):
    """lists have the posts of a place, of a category and since a change"""
    with stage.link(secure) as link:
        phone = stage.phone(link, secure)
        place = {"name": "The bench", "coordinate": {"latitude": 47.5, "longitude": 9.5}, "categories": ["swim"]}
        assert stage.request("/v1/places/bench", "PUT", place)[0] in (200, 201, 204)
        body = {"kind": "marker", "author": phone.user, "title": "The bench", "place": {"id": "bench"}, "min_age": 18}
        status, post = stage.request("/v1/posts", "POST", body)
        assert status in (201, 202), post
        found = phone.run("filter", post["id"])
        for name in ("place ", "category ", "since "):
            assert found.line(name) == post["id"], found.lines
        for name in ("elsewhere ", "later "):
            assert found.line(name) == "", found.lines
        assert found.line("age ") == "18 fields true", found.lines


def receives(stage, secure):
    """events go on after the link breaks, each once"""
    with stage.link(secure) as link:
        phone = stage.phone(link, secure)
        events = phone.start("events", "-", "5")
        events.wait_for("event ")
        first = phone.run("film", *stage.clips(length=None), "one").line("submitted ")
        events.wait_for("event ")
        last = events.lines[-1].split()[1]
        link.reset()
        second = phone.run("film", *stage.clips(length=None), "two").line("submitted ")
        events.end()
        found = [line.split()[2:] for line in events.lines if line.startswith("event ")]
        expected = [[kind, post] for post in (first, second) for kind in ("post_previewed", "post_ready")]
        assert found == [["start", "-"], *expected], found
        missed = phone.run("events", last, "1").line("event ")
        assert missed.split()[1:] == ["post_ready", first], missed


def signs_out(stage, secure):
    """after the sign-out there is neither a session nor a queue"""
    with stage.link(secure) as link:
        phone = stage.phone(link, secure)
        token = phone.session["token"]
        assert stage.request("/v1/users/me", token=token)[0] == 200
        link.go_down()
        phone.run("queue", *stage.clips(), "never")
        assert len(phone.queue()) == 1, phone.queue()
        link.go_up()
        assert phone.run("sign-out").line("ended ") == "true"
        assert not (phone.folder / "session.json").exists() and not phone.queue(), phone.queue()
        wait_until(lambda: stage.request("/v1/users/me", token=token)[0] == 401, "the token is revoked")
        assert phone.run("show").line("error ").startswith("client | No user is signed in."), "signed out"
        assert phone.run("sign-in", phone.name, "wrong horse").line("error ").startswith("sign_in_failed | ")
        assert phone.run("sign-in", phone.name, PASSWORD).line("user ") == phone.user
        assert not stage.posts(phone.user)


TESTS = (films, shows, sends, addresses, filters, receives, signs_out)
