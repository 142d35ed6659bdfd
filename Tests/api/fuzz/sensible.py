"""What a body must have that its schema cannot say, and the markers in its texts."""

from world import EVERYBODY, FRIENDS, PLACES


def sensible(builder, operation, thing, actor, content, type):
    """Returns the body with what makes it valid, the marker in it, and the users who may read that."""
    chance, world = builder.chance, builder.world
    author = actor.user or thing.owner or chance.choice(FRIENDS)
    if isinstance(content, dict) and "author" in content:
        content["author"] = author
    never = {"mallory"} if author in FRIENDS else set()
    mark = lambda readers: world.marker(readers, never)
    match operation.id:
        case "submitPost" | "changePost":
            content = post(builder, content, type) if operation.id == "submitPost" else content
            if operation.id == "changePost":
                if "visibility" in content:
                    world.open(thing.marker)
                return {**content, **({"caption": "changed"} if "caption" in content else {})}, None, EVERYBODY
            readers = {
                "private": {author}, "friends": {author} | world.met[author],
            }.get(content.get("visibility"), EVERYBODY)
            marker = mark(readers)
            return {**content, "caption": marker}, marker, readers
        case "submitComment" | "submitPlaceComment" | "submitCollectionComment":
            marker = mark(EVERYBODY)
            return {**content, "text": f"I say {marker}"}, marker, EVERYBODY
        case "saveNote":
            return {"text": mark({thing.values["id"]})}, None, EVERYBODY
        case "saveUser":
            content = {key: value for key, value in content.items() if key != "birth_date"}
            email = mark({thing.values["id"]}) + "@example.org"
            return {**content, "user_name": f"name-{thing.values['id']}", "email": email}, None, EVERYBODY
        case "createCollection":
            kind, readers = chance.choice(["itinerary", "favourites", "album"]), {author}
            posts = [builder.subjects.known("post")] if chance.random() < 0.7 else []
            items = [{"post": post} for post in posts] if kind == "album" else [
                {"place": place} for place in chance.sample(PLACES, chance.randint(0, len(PLACES)))]
            marker = mark(readers)
            return {"author": author, "kind": kind, "name": marker, "items": items}, marker, readers
        case "changeCollection":
            return chance.choice([{}, {"items": []}, {"items": [{"place": place} for place in chance.sample(PLACES, 3)]}]), None, EVERYBODY
        case "addMember":
            world.open(thing.marker, {thing.values["user"]})
        case "submitReport":
            name = chance.choice(["post", "comment", "user"])
            return {"author": author, "reason": "spam", "text": mark({author}), name: builder.subjects.known(name)}, None, EVERYBODY
        case "openCase":
            name = chance.choice(["post", "comment", "user"])
            decision = chance.choice([None, "approve", "suspend" if name == "user" else "hide"])
            subject = "zed" if name == "user" else builder.subjects.known(name)
            return {name: subject, "note": "seen", **({"decision": decision} if decision else {})}, None, EVERYBODY
        case "mintToken":
            return chance.choice([{}, {"expires_in": 60}, {"grant": {"kinds": ["photo", "marker"], "bytes": 10_000}}]), None, EVERYBODY
        case "register":
            name = f"u{chance.randrange(10**9)}"
            return {"user_name": name, "password": "correct horse", "email": f"{name}@example.org", "refresh": True}, None, EVERYBODY
        case "refreshSession":
            account = world.draw("account", chance)
            return {"refresh_token": account and account.facts.get("refresh") or "t5r_none"}, None, EVERYBODY
        case "changeComment" | "changePlaceComment" | "changeCollectionComment":
            return {"text": f"I say again {thing.marker or ''}"}, None, EVERYBODY
        case "arrangePhotos":
            return {"photos": [0]}, None, EVERYBODY
        case "arrangeFavourites":
            return {"places": []}, None, EVERYBODY
        case "saveDevice":
            is_hexadecimal = all(letter in "0123456789abcdefABCDEF" for letter in thing.values["token"])
            return {"platform": "apns" if is_hexadecimal else "fcm"}, None, EVERYBODY
        case "sendPushMessage":
            return {"texts": {"en": {"title": "Tonight", "body": mark(EVERYBODY)}}}, None, EVERYBODY
        case "createWebhook" | "changeWebhook":
            return {**content, "url": f"https://hooks{chance.randrange(9)}.example.org/take5"}, None, EVERYBODY
        case "changePassword":
            return {"former_password": "correct horse", "password": chance.choice(["correct horse", "battery staple"])}, None, EVERYBODY
        case "resetPassword":
            return {"password": "correct horse"}, None, EVERYBODY
        case "changeJobs" | "startRun":
            # What others have submitted stays theirs.
            return {**content, "dry_run": True}, None, EVERYBODY
        case "signIn":
            account = world.draw("account", chance)
            name = account and account.facts.get("name") or "holder"
            return {"user_name": name, "password": chance.choice(["correct horse", "correct horse", "battery staple"])}, None, EVERYBODY
        case "submitReaction" | "submitProfileImage" | "submitPlacePhoto" | "submitItineraryThumbnail" | "submitCollectionThumbnail":
            if operation.id in ("submitProfileImage", "submitItineraryThumbnail", "submitCollectionThumbnail"):
                content.pop("author", None)
            if type == "application/json":
                upload = world.draw("whole", chance, author)
                content["image"] = {"upload": upload.values["id"] if upload else builder.subjects.known("upload")}
            else:
                content["image"] = b""
    return content, None, EVERYBODY


def post(builder, content, type):
    """A post with the media of its kind."""
    chance = builder.chance
    kind = chance.choice(["marker", "marker", "marker", "photo", "photo", "take5"] if type == "application/json" or chance.random() < 0.1
                         else ["marker", "marker", "photo"])
    kept = {"author", "title", "caption", "alternative_text", "visibility", "captured_at"}
    content = {**{name: value for name, value in content.items() if name in kept}, "kind": kind, "caption": ""}
    names = {"take5": ["front", "back"], "photo": ["photo"], "marker": []}[kind]
    if type != "application/json":
        content |= {name: b"" for name in names}
        if chance.random() < 0.5:
            content |= {"place": chance.choice(PLACES), "latitude": 52.5, "longitude": 13.4}
        return content
    for name in names:
        upload = builder.world.draw(chance.choice(["whole", "/v1/uploads/{id}"]), chance, content.get("author"))
        reference = {"upload": upload.values["id"] if upload else builder.subjects.known("upload")}
        content[name] = [reference] if name == "photo" else reference
    if chance.random() < 0.5:
        content["place"] = {"id": chance.choice(PLACES), "coordinate": {"latitude": 52.5, "longitude": 13.4}}
    return content
