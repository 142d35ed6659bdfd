"""What a request is about, and who sends it."""

from actors import Actor
from world import FRIENDS, ITINERARIES, PLACES, UNKNOWN, Thing

# Who is blocked by chance. No actor lifts the block of the one whom all have blocked, or asks the stranger for friendship.
PEOPLE = [*FRIENDS, "eve", "zed"]

# Tokens of Apple's and of another provider.
DEVICES = ["0a" * 32, "0B" * 50, "phone:1", "phone/2"]


# What the operator says to all has names that a client chooses.
MESSAGES = [f"00000000-0000-4000-8000-{number:012}" for number in range(40)]


class Subjects:
    """Draws the things that paths, parameters and fields name."""

    def __init__(self, world, cast, chance):
        self.world, self.cast, self.chance = world, cast, chance

    def draw(self, operation):
        """What the path of an operation names."""
        chance, world = self.chance, self.world
        base = operation.path[:operation.path.rfind("}") + 1]
        user = chance.choice(FRIENDS)
        match base.split("/")[2:]:
            case [] if operation.id != "streamUserEvents":
                return Thing("", {}, user)
            case ["users", "{id}"]:
                if operation.id == "resetPassword":
                    account = world.draw("account", chance)
                    return account and Thing(base, {"id": account.owner}, account.owner)
                user = "zed" if operation.id in ("deleteUser", "revokeTokens", "endOtherSessions") else chance.choice([*FRIENDS, "eve"])
                return Thing(base, {"id": user}, user)
            case ["users", _, "friends" | "blocks" as kind, _]:
                other = chance.choice([*FRIENDS, "zed"] if kind == "friends" else PEOPLE)
                if operation.id == "addFriend":
                    world.meet(user, other)
                return Thing(base, {"id": user, "other": other}, user)
            case ["users", _, "likes" | "bookmarks", _]:
                post = world.draw("/v1/posts/{id}", chance)
                return post and Thing(base, {"id": user, "other": post.values["id"]}, user)
            case ["users", _, "favourites", _]:
                return Thing(base, {"id": user, "other": chance.choice(PLACES)}, user)
            case ["users", _, "notes" | "ratings", _]:
                return Thing(base, {"id": user, "place": chance.choice(PLACES)}, user)
            case ["users", _, "devices", _]:
                return Thing(base, {"id": user, "token": chance.choice(DEVICES)}, user)
            case ["users", _, "sessions", _]:
                token = world.draw("/v1/users/{id}/tokens/{token}", chance)
                return token and Thing(base, {"id": token.values["id"], "session": token.values["token"]}, token.values["id"])
            case ["webhooks", _, "deliveries", _]:
                webhook = world.draw("/v1/webhooks/{id}", chance)
                return webhook and Thing(base, {**webhook.values, "delivery": chance.randrange(1000)}, user)
            case ["push", "messages", _]:
                return Thing(base, {"id": chance.choice(MESSAGES)}, user)
            case ["places", "{id}"]:
                return Thing(base, {"id": chance.choice(PLACES)}, user)
            case ["itineraries", "{id}"]:
                return Thing(base, {"id": chance.choice(ITINERARIES)}, user)
            case ["collections", _, "members", _]:
                collection = world.draw("/v1/collections/{id}", chance)
                member = world.draw(base, chance)
                if member and operation.method == "DELETE" and chance.random() < 0.7:
                    return member
                return collection and Thing(base, {**collection.values, "user": chance.choice(FRIENDS)}, collection.owner, collection.marker)
        secret = {"readCollection": "link", "streamUserEvents": "ticket"}.get(operation.id)
        if secret and chance.random() < 0.2:
            return world.draw(secret, chance)
        if base == "/v1/posts/{id}" and operation.method == "GET" and chance.random() < 0.15:
            base = "hidden"
        return world.draw(base, chance) or (Thing("", {}, user) if not base else None)

    def actor(self, operation, thing):
        if operation.id in ("register", "signIn", "refreshSession"):
            # Attempts are limited for each address.
            return Actor("anybody", address=f"10.{self.chance.randrange(1, 250)}.{self.chance.randrange(250)}.1")
        if thing.path in ("link", "ticket"):
            return self.cast.anonymous
        if operation.id in ("changePassword", "revokeCurrentToken", "requestVerification"):
            # Those of the cast stay valid.
            account = self.world.draw("account", self.chance)
            return Actor("an account", account.values["token"], account.owner) if account else self.cast.forged
        token = self.world.draw("/v1/users/{id}/tokens/{token}", self.chance)
        if operation.id == "submitPost" and token and self.chance.random() < 0.1:
            return Actor("a token that was minted", token.facts["token"], token.values["id"])
        scopes = {scope for choice in operation.security for scopes in choice.values() for scope in scopes}
        if scopes & {"admin", "tokens", "webhooks"} and self.chance.random() < 0.7:
            return self.cast.operator
        if "moderate" in scopes and self.chance.random() < 0.7:
            return self.chance.choice([self.cast.operator, self.cast.moderator])
        return self.cast.draw(self.chance, thing.owner)

    def known(self, name):
        """An id of something that exists, for a field or a parameter with this name."""
        chance = self.chance
        path = {
            "post": "/v1/posts/{id}", "upload": "/v1/uploads/{id}", "job": "/v1/jobs/{id}", "comment": "/v1/posts/{id}/comments/{comment}",
        }.get(name)
        if path:
            thing = self.world.draw(path, chance)
            return list(thing.values.values())[-1] if thing else UNKNOWN[0]
        return {"author": lambda: chance.choice(FRIENDS), "user": lambda: chance.choice(FRIENDS), "place": lambda: chance.choice(PLACES)}.get(
            name, lambda: None)()
