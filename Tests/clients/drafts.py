"""Raw requests as clients of the IETF drafts send them: a connection breaks in the middle, and the client goes on where the
response to HEAD says."""

import dataclasses
import json
import time
import urllib.parse

from service import BYTES, TIMEOUT
from wire import request


@dataclasses.dataclass(frozen=True)
class Draft:
    """A version of draft-ietf-httpbis-resumable-upload."""

    name: str
    # The header field that says whether an upload is whole after a request, and its values.
    field: str
    more: str
    last: str
    # What each request has, what each PATCH has, and what the first 104 response has besides Location.
    extra: dict
    type: dict
    interim: tuple

    def create(self, is_last, length):
        """The header of a request that creates an upload."""
        return {**self.extra, self.field: self.last if is_last else self.more, "Content-Length": length}

    def append(self, offset, length):
        """The header of a request that appends the last bytes."""
        return {**self.extra, **self.type, self.field: self.last, "Upload-Offset": offset, "Content-Length": length}


CURRENT = Draft(
    "the current draft", "Upload-Complete", "?0", "?1", {}, {"Content-Type": "application/partial-upload"},
    ("upload-limit", "max-size="))
IOS17 = Draft(
    "the draft of iOS 17", "Upload-Incomplete", "?1", "?0", {"Upload-Draft-Interop-Version": "3"}, {},
    ("upload-draft-interop-version", "3"))


def path_of(location):
    return urllib.parse.urlsplit(location).path


def finish(draft, url, path, bytes, first=None):
    """Asks for the offset and sends the rest until the upload is whole. `first` is called once half of the first rest is sent.
    Returns the offsets at which requests began."""
    offsets, end = [], time.monotonic() + TIMEOUT
    while True:
        assert time.monotonic() < end, f"the upload is not whole within {TIMEOUT} s: {offsets}"
        try:
            response = request(url, "HEAD", path, draft.extra)
            if response.status in (502, 503, 504):
                continue
            assert response.status == 204, response
            assert response.headers["cache-control"] == "no-store", response
            # The response to the last bytes may be lost.
            if response.headers[draft.field.lower()] == draft.last:
                return offsets
            offset = int(response.headers["upload-offset"])
            offsets.append(offset)
            response = request(
                url, "PATCH", path, draft.append(offset, len(bytes) - offset), parts(bytes[offset:], first))
            first = None
            if response.status in (201, 204):
                assert response.headers[draft.field.lower()] == draft.last, response
                return offsets
            assert response.status in (409, 502, 503, 504), response
        except ConnectionError:
            first = None


def parts(bytes, between):
    """Returns the halves of bytes, and calls `between` once the first one is sent."""
    half = len(bytes) // 2
    yield bytes[:half]
    if between:
        between()
    yield bytes[half:]


def through_draft(draft, service, url, bytes):
    """Creates an upload without content; the service is killed in the middle of its content."""
    response = request(url, "POST", "/v1/uploads", draft.create(False, 0))
    assert response.status == 201, response
    location = response.headers["location"]

    def kill():
        service.wait_for(BYTES // 3, location)
        service.restart()

    offsets = finish(draft, url, path_of(location), bytes, kill)
    assert offsets[0] == 0 and BYTES // 3 < offsets[-1] < BYTES, offsets
    return location


def through_current_draft(service, url, bytes):
    return through_draft(CURRENT, service, url, bytes)


def through_draft_of_ios(service, url, bytes):
    return through_draft(IOS17, service, url, bytes)


def refuses_wrong_offset(url, _):
    """A problem of the current draft has its type and its members."""
    location = request(url, "POST", "/v1/uploads", CURRENT.create(False, 0)).headers["location"]
    response = request(url, "PATCH", path_of(location), CURRENT.append(7, 1), b"x")
    problem = json.loads(response.body)
    assert response.status == 409 and response.headers["upload-offset"] == "0", response
    assert problem["type"].endswith("#mismatching-upload-offset"), problem
    assert problem["expected-offset"] == 0 and problem["provided-offset"] == 7, problem
    assert request(url, "DELETE", path_of(location), {}).status == 204
