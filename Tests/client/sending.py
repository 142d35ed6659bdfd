"""What the phone sends while its link, its process and the service break."""

from phones import PASSWORD, ratio, size
from service import wait_until


def cut(stage, secure):
    """the link breaks ten times"""
    with stage.link(secure) as link:
        phone = stage.phone(link, secure)
        clips = stage.clips()
        before, cuts = link.forwarded, []
        for number in range(1, 11):
            at = before + size(*clips) * number // 11
            link.stops.append((at, lambda: (cuts.append(1), link.reset())))
        film = phone.run("film", *clips, "cut")
        assert len(cuts) == 10, film.lines
        stage.ready(phone.user, "cut")
        stage.has(*clips)
        return ratio(link, before, *clips) + f", {film.memory:.0f} MiB"


def killed(stage, secure):
    """the phone's process is killed in the middle of each clip"""
    with stage.link(secure) as link:
        phone = stage.phone(link, secure)
        clips = stage.clips()
        before = link.forwarded
        for part in (1, 3):
            stopped = []
            link.stops.append((before + size(*clips) * part // 4, lambda: (stopped.append(1), process.kill())))
            process = phone.start("film", *clips, "killed") if part == 1 else phone.start("resume")
            process.process.wait()
            assert stopped and process.process.returncode == -9, process.process.returncode
        resumed = phone.run("resume")
        assert resumed.line("pending ") == "0", resumed.lines
        stage.ready(phone.user, "killed")
        stage.has(*clips)
        return ratio(link, before, *clips)


def service_killed(stage, secure):
    """the service is killed in the middle"""
    with stage.link(secure) as link:
        phone = stage.phone(link, secure)
        # What the kernel and nginx hold ends with the service: up to two megabytes on a busy machine.
        clips = stage.clips(length=60 << 20)
        before = link.forwarded
        link.stops.append((before + size(*clips) // 2, stage.service.restart))
        phone.run("film", *clips, "restarted")
        stage.ready(phone.user, "restarted")
        stage.has(*clips)
        return ratio(link, before, *clips)


def renewed(stage, secure):
    """the token ends in the middle, and is renewed once"""
    with stage.link(secure) as link:
        phone = stage.phone(link, secure)
        clips = stage.clips()
        former = phone.session

        def end():
            stage.sql(f"DELETE FROM access_token USING user_token u WHERE u.id = token_id AND u.user_id = '{phone.user}'")
            wait_until(lambda: stage.request("/v1/users/me", token=former["token"])[0] == 401, "the token ends")

        before = link.forwarded
        link.stops.append((before + size(*clips) // 3, end))
        phone.run("film", *clips, "renewed")
        stage.ready(phone.user, "renewed")
        stage.has(*clips)
        assert phone.session["refresh_token"] != former["refresh_token"]
        assert stage.request("/v1/users/me", token=phone.session["token"])[0] == 200
        # A part is sent again with the new token.
        sent = (link.forwarded - before) / size(*clips)
        assert sent < 1.25, sent
        return f"{sent:.3f} of the bytes"


def signed_out(stage, secure):
    """the session ends in the middle, and the moment goes on after a sign-in"""
    with stage.link(secure) as link:
        phone = stage.phone(link, secure)
        clips = stage.clips()
        tokens = f"/v1/users/{phone.user}/tokens"
        before = link.forwarded
        token = phone.session["token"]

        def revoke():
            assert stage.request(tokens, "DELETE")[0] == 204
            wait_until(lambda: stage.request("/v1/users/me", token=token)[0] == 401, "the token ends")

        link.stops.append((before + size(*clips) // 3, revoke))
        process = phone.start("film", *clips, "later")
        process.wait_for("phase signedOut")
        process.kill()
        assert len(phone.queue()) == 1 and not (phone.folder / "session.json").exists(), phone.queue()
        # What is another user's waits for its user.
        phone.run("register", phone.name + "b", PASSWORD)
        assert phone.run("resume").line("pending ") == "0" and len(phone.queue()) == 1
        phone.run("sign-in", phone.name, PASSWORD)
        assert phone.run("resume").line("pending ") == "0"
        stage.ready(phone.user, "later")
        stage.has(*clips)


def offline(stage, secure):
    """what is filmed without a network is sent when it is back"""
    with stage.link(secure) as link:
        phone = stage.phone(link, secure)
        clips = stage.clips()
        link.go_down()
        phone.run("queue", *clips, "offline")
        # The queue has the bytes: the app deletes its files.
        clips = [path.rename(path.with_suffix(".gone")) for path in clips]
        assert phone.run("pending").line("pending ") == "1"
        process = phone.start("resume")
        process.wait_for("phase waiting")
        link.go_up()
        process.end()
        assert process.line("pending ") == "0", process.lines
        stage.ready(phone.user, "offline")
        stage.has(*clips)


def bounded(stage, secure):
    """files of 60 MiB need no more memory than small ones"""
    with stage.link(secure) as link:
        phone = stage.phone(link, secure)
        small = phone.run("film", *stage.clips(length=None), "small").memory
        clips = stage.clips(60 << 20)
        before = link.forwarded
        large = phone.run("film", *clips, "large").memory
        stage.ready(phone.user, "large")
        stage.has(*clips)
        assert large - small < 32, f"{small} and {large} MiB"
        return f"{ratio(link, before, *clips)}, {small:.0f} and {large:.0f} MiB"


TESTS = (cut, killed, service_killed, renewed, signed_out, offline, bounded)
