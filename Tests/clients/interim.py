"""104 (Upload Resumption Supported): the URL of an upload before its creation ends, and the offsets that are on the disk."""

import functools

from drafts import CURRENT, IOS17, finish, path_of
from service import BYTES
from wire import Exchange

PIECE = 1 << 20
# What a proxy that names itself adds to a request.
NAMES_OF_PROXIES = [
    ("Via", "1.1 proxy"), ("Forwarded", "for=192.0.2.1"), ("X-Forwarded-For", "192.0.2.1"), ("X-Forwarded-Proto", "http"),
    ("X-Real-IP", "192.0.2.1"), ("X-Forwarded-Host", "app.example.org")]


def continued(draft, service, end, bytes):
    """A client that sends everything in one request goes on where the service or the connection ended, since a 104 response
    has said the URL. `end` ends it once more than a third has arrived, and another 104 response has said an offset; the draft of
    iOS 17 has none that do."""
    exchange = Exchange(service.url, "POST", "/v1/uploads", draft.create(True, len(bytes)))
    assert exchange.receive() is None, "a final response before the body"
    first = exchange.interim[0]
    assert first.status == 104 and first.reason == "Upload Resumption Supported", first
    field, value = draft.interim
    assert value in first.headers[field], first
    location = first.headers["location"]
    sent = 0
    while sent <= len(bytes) // 3 or draft is CURRENT and not acknowledged(exchange):
        assert sent < len(bytes), "no 104 response says an offset"
        assert exchange.send(bytes[sent : sent + PIECE]) is None, "a final response before the end of the body"
        sent += PIECE
    service.wait_for(len(bytes) // 3, location)
    end()
    exchange.close()
    offsets = finish(draft, service.url, path_of(location), bytes)
    assert max([0, *acknowledged(exchange)]) <= offsets[0] <= sent, (acknowledged(exchange), offsets, sent)
    return location


def acknowledged(exchange):
    """The offsets of the 104 responses that have arrived."""
    offsets = [int(response.headers["upload-offset"]) for response in exchange.interim
               if "upload-offset" in response.headers]
    assert offsets == sorted(offsets), offsets
    return offsets


def without_interim(url, headers, bytes, version="HTTP/1.1"):
    """No 104 response comes before the final one, which has status 201."""
    exchange = Exchange(url, "POST", "/v1/uploads", headers, version)
    response = exchange.send(bytes) or exchange.finish()
    assert not exchange.interim, exchange.interim
    assert response.status == 201, response
    return response.headers["location"]


def tests(service, nginx):
    """Yields the tests, as main.py describes them."""
    for draft in (CURRENT, IOS17):
        name = f"104 responses of {draft.name}"
        for how, end in [("the service is killed", service.restart), ("the connection is cut", lambda: None)]:
            yield f"{name}; {how} in the middle", functools.partial(continued, draft, service, end)
        header = draft.create(True, BYTES)
        yield f"no {name}, through nginx", functools.partial(without_interim, nginx.url, header)
        for field, value in NAMES_OF_PROXIES:
            yield f"no {name}, with {field}", functools.partial(
                without_interim, service.url, {**header, field: value})
        yield f"no {name}, in HTTP/1.0", functools.partial(without_interim, service.url, header, version="HTTP/1.0")
    header = {
        "Tus-Resumable": "1.0.0", "Upload-Length": BYTES, "Content-Length": BYTES,
        "Content-Type": "application/offset+octet-stream"}
    yield "no 104 responses in tus", functools.partial(without_interim, service.url, header)
