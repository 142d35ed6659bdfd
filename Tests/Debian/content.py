#!/usr/bin/env python3
"""content.py URL KEY SAMPLES PHOTO: makes what users, moderators and operators leave in a store, with media of each kind, by the API."""

import http.client
import json
import pathlib
import sys
import time
import urllib.parse

server, key = urllib.parse.urlsplit(sys.argv[1]).netloc, sys.argv[2]
samples, photo = pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])


def send(method, path, body=None, user=None, **headers):
    """Sends a request that succeeds: with JSON, or with bytes that a header describes. Returns the JSON of the response."""
    fields = {"Authorization": f"Bearer {key}", **{name.replace("_", "-"): value for name, value in headers.items()}}
    if user:
        fields["Take5-User"] = user
    if body is not None and not isinstance(body, bytes):
        body, fields["Content-Type"] = json.dumps(body).encode(), "application/json"
    connection = http.client.HTTPConnection(server, timeout=120)
    connection.request(method, path, body, fields)
    response = connection.getresponse()
    data = response.read()
    connection.close()
    assert response.status < 300, (method, path, response.status, data)
    return json.loads(data) if data else None


def form(path, fields, files):
    """Sends a form with texts and with files, `(part, path)`."""
    boundary = "a-moment"
    parts = [(f'name="{name}"', value.encode()) for name, value in fields.items()]
    parts += [(f'name="{name}"; filename="{file.name}"', file.read_bytes()) for name, file in files]
    body = b"".join(f"--{boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n".encode() + data + b"\r\n" for head, data in parts)
    body += f"--{boundary}--\r\n".encode()
    return send("POST", path, body, Content_Type=f"multipart/form-data; boundary={boundary}", Idempotency_Key=f"{path}-{len(body)}")


def finished(path, thing):
    """What is at a path once its media are processed."""
    end = time.monotonic() + 180
    while thing["status"] == "processing" and time.monotonic() < end:
        thing = send("GET", f"{path}/{thing['id']}?wait=20")
    return thing


send("PUT", "/v1/window/schedule", {"schedule": "00:00-23:59 UTC"})
send("PUT", "/v1/users/ada", {"user_name": "ada", "name": "Ada Lovelace", "bio": "Numbers"})
send("PUT", "/v1/users/bob", {"user_name": "bob", "name": "Bob Müller"})
send("POST", "/v1/accounts", {"user_name": "cleo", "password": "correct horse", "email": "cleo@example.org", "refresh": True})
send("POST", "/v1/webhooks", {"url": "https://app.example.org/take5", "kinds": ["comment"]})
send("PUT", "/v1/users/ada/devices/" + "ab" * 32, {"platform": "apns"}, user="ada")
send("PUT", "/v1/places/lake", {"name": "Lake", "coordinate": {"latitude": 52.5, "longitude": 13.4}, "categories": ["water"]})
send("PUT", "/v1/users/ada/notes/lake", {"text": "Go at dusk"}, user="ada")
send("PUT", "/v1/users/bob/ratings/lake", {"rating": 4}, user="bob")
send("PUT", "/v1/users/ada/friends/bob", user="ada")
send("PUT", "/v1/users/bob/friends/ada", user="bob")
send("POST", "/v1/users/ada/tokens", {})
send("POST", "/v1/events/tickets", user="ada")

clips = [("front", samples / "front.mp4"), ("back", samples / "back.mp4")]
there = {"place": "lake", "place_name": "Lake", "latitude": "52.5", "longitude": "13.4"}
moment = form("/v1/posts", {"kind": "take5", "author": "ada", "caption": "A lake at dusk", **there}, clips)
photos = form("/v1/posts", {"kind": "photo", "author": "bob", **there}, [("photo", photo), ("photo", photo)])
for post in (moment, photos):
    post = finished("/v1/posts", post)
    assert post["status"] == "ready", post
send("POST", f"/v1/posts/{moment['id']}/comments", {"author": "bob", "text": "How calm, @ada"}, user="bob")
send("PUT", f"/v1/users/bob/likes/{moment['id']}", user="bob")
send("PUT", f"/v1/users/bob/bookmarks/{moment['id']}", user="bob")
form(f"/v1/posts/{moment['id']}/reactions", {"author": "bob"}, [("image", photo)])
send("PUT", "/v1/users/ada/profile-image", photo.read_bytes(), user="ada", Content_Type="image/jpeg")

album = send("POST", "/v1/collections", {"author": "ada", "kind": "album", "name": "Lakes", "items": [{"post": moment["id"]}]}, user="ada")
send("PUT", f"/v1/collections/{album['id']}/members/bob", {"role": "viewer"}, user="ada")
send("POST", "/v1/collections", {"author": "ada", "kind": "itinerary", "name": "A day", "items": [{"place": "lake"}]}, user="ada")

send("POST", "/v1/posts", {"kind": "marker", "author": "ada", "title": "Swim", "visibility": "friends", "place": {"id": "lake"}}, user="ada")
spam = send("POST", "/v1/posts", {"kind": "marker", "author": "mallory", "title": "Buy gold"})
send("POST", "/v1/reports", {"post": spam["id"], "author": "bob", "reason": "spam"}, user="bob")
send("POST", "/v1/moderation/cases", {"user": "mallory", "decision": "suspend", "note": "seen"})
send("PUT", "/v1/users/zed", {"user_name": "zed"})
send("DELETE", "/v1/users/zed")
# Again, so that a run has an item of each outcome.
run = send("POST", "/v1/operations/runs", {"kinds": ["take5"], "is_forced": True})
end = time.monotonic() + 180
while send("GET", f"/v1/operations/runs/{run['id']}")["state"] == "running" and time.monotonic() < end:
    time.sleep(0.5)
