"""Headless Chromium: a page of another origin uploads with fetch, directly and through nginx with TLS; its network goes away in
the middle and comes back, and the service is killed and starts again."""

import contextlib
import json
import urllib.parse

from devtools import Chromium
from drafts import path_of
from link import Link
from service import SAMPLES, wait_until
from wire import request


def quoted(*values):
    """Arguments of a call in a script."""
    return ", ".join(json.dumps(value) for value in values)


class Browser:
    """Chromium with pages of some origins, which act as a user."""

    def __init__(self, service, nginx, folder, screenshots):
        self.service, self.nginx, self.folder, self.screenshots = service, nginx, folder, screenshots
        response = request(
            service.url, "POST", "/v1/users/ada/tokens", {"Content-Type": "application/json", "Content-Length": 2}, b"{}")
        assert response.status == 201, response
        self.token = json.loads(response.body)["token"]
        self.chromium = Chromium(folder, nginx.certificate)

    def open(self, origin, api):
        page = self.chromium.open(origin)
        page.run(f"Object.assign(page, {quoted({'api': api, 'token': self.token})})")
        return page

    def upload(self, bytes, origin, api, dialect):
        """A page uploads a file. Its network goes away after a third; after two thirds the service is killed."""
        third = len(bytes) // 3
        killed = {}

        def kill():
            self.service.kill()
            killed.update((path, path.stat().st_size) for path in self.service.uploads())
            self.service.start()

        link = Link(urllib.parse.urlsplit(api).port, [(third, lambda: link.go_down()), (2 * third, kill)])
        page = self.open(origin, urllib.parse.urlsplit(api)._replace(netloc=f"api.localhost:{link.port}").geturl())
        file = self.folder / "clip.mp4"
        file.write_bytes(bytes)
        page.choose(file)
        page.run(f"void (page.upload = upload({quoted(dialect)}, page.files.files[0]))")
        wait_until(lambda: not link.is_up, "a third is forwarded")
        page.go_offline(True)
        wait_until(lambda: page.run("page.waits"), "the page waits for the network")
        link.go_up()
        page.go_offline(False)
        result = page.run("page.upload")
        self.picture(page, f"upload-{dialect}")
        upload = self.service.file(result["url"])
        # A browser may send a request again by itself, so that the page does not see it; one that creates leaves another upload.
        assert 0 < result["continued"][0] <= third < killed[upload] < len(bytes), (result, killed)
        assert upload.read_bytes() == bytes, "other bytes"
        status = page.run(f"remove({quoted(result['url'], {'Tus-Resumable': '1.0.0'} if dialect == 'tus' else {})})")
        assert status == 204 and not upload.exists(), status
        page.close()
        link.close()

    def moment(self, _):
        """A page uploads two clips, submits them as a moment, and shows what the service makes of it."""
        page = self.open(self.nginx.origin, self.nginx.secure_url)
        page.choose(SAMPLES / "front.mp4", SAMPLES / "back.mp4")
        result = page.run("""(async () => {
            const front = await upload("tus", page.files.files[0]), back = await upload("draft", page.files.files[1])
            return await submit(front.url, back.url)
        })()""")
        self.picture(page, "moment")
        assert result["submitted"] == 202 and result["location"].startswith("/v1/posts/"), result
        assert result["status"] == "ready" and result["height"] > 0, result
        page.close()

    def refused(self, _):
        """A page of an origin that is not allowed reads nothing and changes nothing, also with a valid token."""
        location = request(self.service.url, "POST", "/v1/uploads", {
            "Upload-Complete": "?0", "Content-Length": 0, "Take5-User": "ada"}).headers["location"]
        path, credential = path_of(location), {"Authorization": f"Bearer {self.token}"}
        uploads = set(self.service.uploads())
        attempts = [
            ("GET", "/openapi.json", {}, {}), ("GET", path, credential, {}),
            ("POST", "/v1/uploads", {**credential, "Upload-Complete": "?0"}, {}),
            ("PATCH", path, {**credential, "Upload-Complete": "?1", "Upload-Offset": "0"}, {"body": "x"}),
            ("DELETE", path, credential, {})]
        allowed = self.open(self.nginx.origin, self.nginx.secure_url)
        other = self.open(self.nginx.other_origin, self.nginx.secure_url)
        for attempt in attempts[:2]:
            assert allowed.run(f"attempt({quoted(*attempt)})")["status"] == 200, attempt
        for attempt in attempts:
            result = other.run(f"attempt({quoted(*attempt)})")
            assert result == {"error": "TypeError"}, (attempt, result)
        opaque = other.run(f"attempt({quoted('GET', '/openapi.json', {}, {'mode': 'no-cors'})})")
        assert opaque == {"type": "opaque", "status": 0, "text": ""}, opaque
        assert set(self.service.uploads()) == uploads and self.service.file(location).stat().st_size == 0
        assert allowed.run(f"remove({quoted(path, {})})") == 204
        for page in (allowed, other):
            page.close()

    def picture(self, page, name):
        if self.screenshots:
            self.screenshots.mkdir(parents=True, exist_ok=True)
            page.screenshot(self.screenshots / f"{name}.png")

    def close(self):
        self.chromium.close()


def tests(service, nginx, folder, screenshots):
    """Yields the tests, as main.py describes them."""

    def test(method, *arguments):
        def run(bytes):
            with contextlib.closing(Browser(service, nginx, folder, screenshots)) as browser:
                method(browser, bytes, *arguments)

        return run

    for place, origin, api in [
        ("directly", nginx.plain_origin, service.url), ("through nginx with TLS", nginx.origin, nginx.secure_url)]:
        for dialect in ("tus", "draft"):
            name = f"Chromium with fetch, {dialect}, {place}, offline in the middle, and with the service killed"
            yield name, test(Browser.upload, origin, api, dialect)
    yield "Chromium submits a moment, through nginx with TLS", test(Browser.moment)
    yield "Chromium refuses a page of another origin, through nginx with TLS", test(Browser.refused)
