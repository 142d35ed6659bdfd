"""What the world has learnt from a response: ids, versions, media, what is gone."""

import json
import re
import urllib.parse

from world import EVERYBODY

# The operations that add something, with the path at which it is read or deleted and the name of its id there.
ADDING = {
    "submitPost": ("/v1/posts/{id}", "id"), "submitComment": ("/v1/posts/{id}/comments/{comment}", "comment"),
    "submitReaction": ("/v1/posts/{id}/reactions/{image}", "image"), "submitPlacePhoto": ("/v1/places/{id}/photos/{image}", "image"),
    "submitPlaceComment": ("/v1/places/{id}/comments/{comment}", "comment"), "createCollection": ("/v1/collections/{id}", "id"),
    "submitCollectionComment": ("/v1/collections/{id}/comments/{comment}", "comment"), "submitReport": ("/v1/reports/{id}", "id"),
    "openCase": ("/v1/moderation/cases/{id}", "id"), "mintToken": ("/v1/users/{id}/tokens/{token}", "token"),
    "createWebhook": ("/v1/webhooks/{id}", "id"),
}

# What has a job, whose outputs are media.
IMAGES = {"submitReaction", "submitPlacePhoto", "submitProfileImage", "submitItineraryThumbnail", "submitCollectionThumbnail"}


def learn(world, exchange):
    """Adds what a response says to the world."""
    operation, thing = exchange.operation, getattr(exchange, "thing", None)
    if exchange.status is None or not operation:
        return
    if exchange.status in (404, 410) and thing and exchange.actor.is_operator and exchange.is_valid and operation.path == thing.path:
        world.remove(thing)
    if exchange.status >= 300:
        return
    if "etag" in exchange.answer and thing and operation.path == thing.path:
        thing.facts["etag"] = exchange.answer["etag"]
    # Who is not the author of a collection only leaves it.
    if operation.id == "addMember":
        world.add(thing.path, thing.values, thing.owner, thing.marker)
    is_left = operation.id == "deleteCollection" and not (exchange.actor.is_operator or exchange.actor.user == thing.owner)
    if operation.method == "DELETE" and thing and operation.path == thing.path and exchange.is_valid and not is_left:
        world.remove(thing)
    if "uploads" in operation.path:
        return
    try:
        content = json.loads(exchange.content)
    except ValueError:
        return
    if isinstance(content, dict):
        learn_content(world, exchange, content)


def learn_content(world, exchange, content):
    operation, thing = exchange.operation, exchange.thing
    owner = content.get("author") or exchange.actor.user or thing.owner
    if operation.id in ADDING and "id" in content:
        path, name = ADDING[operation.id]
        # Who has reported what has a case; the model of what is seen needs no more of it.
        marker = getattr(exchange, "marker", None)
        # The request may have named another place than the thing.
        place = {"id": content["place"]} if path.startswith("/v1/places/") and content.get("place") else {}
        added = world.add(
            path, {**thing.values, **place, name: content["id"]}, owner, marker, visibility=content.get("visibility"),
            ends_with_it=operation.id != "submitReport", etag=exchange.answer.get("etag"))
        if content.get("visibility") == "friends" and exchange.readers is not EVERYBODY:
            world.open(marker, {owner} | world.met[owner])
        if operation.id == "mintToken":
            added.facts["token"] = content.get("token")
    if operation.id in IMAGES and "id" in content:
        world.add("/v1/images/{id}", {"id": content["id"]}, owner)
    if operation.id == "createLink" and "url" in content:
        world.open(thing.marker)
        query = urllib.parse.urlsplit(content["url"]).query
        world.add("link", thing.values, thing.owner, thing.marker, query=dict(urllib.parse.parse_qsl(query)))
    if operation.id in ("register", "signIn") and "token" in content:
        name = re.search(rb'"user_name": "([^"]*)"', exchange.body)
        world.add("account", {"token": content["token"]}, content.get("user"), name=name and name[1].decode("utf-8", "replace"),
                  refresh=content.get("refresh_token"))
    if operation.id == "createEventTicket" and "ticket" in content:
        world.add("ticket", {}, owner, query={"ticket": content["ticket"]})
    if operation.id in ("listCases", "listJobs"):
        path = {"listCases": "/v1/moderation/cases/{id}", "listJobs": "/v1/jobs/{id}"}[operation.id]
        for item in content.get("items", [])[:5]:
            world.add(path, {"id": item["id"]}, "ada")
    job = content.get("job")
    if isinstance(job, dict) and "id" in job:
        world.add("/v1/jobs/{id}", {"id": job["id"]}, owner)
    for asset in assets(content):
        parts = urllib.parse.urlsplit(asset)
        world.add("/v1/media/{asset}", {"asset": parts.path.rsplit("/", 1)[-1]}, owner, query=dict(urllib.parse.parse_qsl(parts.query)))


def assets(content):
    """The URLs of media in a post or an image."""
    found = [content.get("assets"), *(content.get("photos") or [])]
    return [
        asset["url"] for group in found if isinstance(group, dict)
        for asset in (group.get("assets") or group).values() if isinstance(asset, dict) and asset.get("url")]
