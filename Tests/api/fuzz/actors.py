"""Who sends requests: users with tokens, keys, a moderator, a user whom all have blocked, a deleted one, and anybody."""

import urllib.parse

from service import KEY


class Actor:
    """A client with one credential, which acts as one user or as none."""

    def __init__(self, name, credential=None, user=None, acts_as=None, address="127.0.9.9"):
        self.name, self.credential, self.user, self.acts_as, self.address = name, credential, user or acts_as, acts_as, address
        # Without a user it sees everything that its scopes permit.
        self.is_operator = credential is not None and self.user is None and name != "a forged token"

    def headers(self):
        headers = [("X-Forwarded-For", self.address)]
        if self.credential:
            headers.append(("Authorization", f"Bearer {self.credential}"))
        if self.acts_as:
            headers.append(("Take5-User", urllib.parse.quote(self.acts_as, safe="")))
        return headers


class Cast:
    """All actors of a run."""

    def __init__(self, service, setup, friends):
        """setup: sends a request as an operator and returns its JSON."""
        self.operator = Actor("the operator", KEY, address="10.0.0.1")
        self.friends = [Actor(user, self.token(setup, user), user, address=f"10.0.1.{index}") for index, user in enumerate(friends)]
        self.stranger = Actor("eve, a stranger", self.token(setup, "eve"), "eve", address="10.0.2.1")
        self.blocked = Actor("mallory, whom all have blocked", self.token(setup, "mallory"), "mallory", address="10.0.2.2")
        self.suspended = Actor("oscar, who is suspended", self.token(setup, "oscar"), "oscar", address="10.0.2.3")
        self.deleted = Actor("zed, who is deleted again and again", self.token(setup, "zed"), "zed", address="10.0.2.4")
        self.back_end = Actor("a back-end as bob", KEY, acts_as="bob", address="10.0.3.1")
        self.moderator = Actor("a moderator", service.key("moderator", "moderate,read"), address="10.0.3.2")
        self.reader = Actor("a key that reads", service.key("reader", "read"), address="10.0.3.3")
        self.anonymous = Actor("anybody", address="10.0.4.1")
        self.forged = Actor("a forged token", "t5u_" + "A" * 43, address="10.0.4.2")
        self.others = [self.stranger, self.blocked, self.suspended, self.deleted, self.back_end, self.moderator, self.reader, self.anonymous, self.forged]

    @staticmethod
    def token(setup, user):
        return setup("POST", f"/v1/users/{user}/tokens", {})["token"]

    def of(self, user):
        """The actor that is a user; the operator for a user who has none."""
        return next((actor for actor in [*self.friends, *self.others] if actor.user == user and not actor.acts_as), self.operator)

    def draw(self, chance, owner=None):
        """Often the owner of a thing, often a friend, sometimes anybody else."""
        number = chance.random()
        if owner and number < 0.5:
            return self.of(owner)
        if number < 0.65:
            return chance.choice(self.friends)
        return self.operator if number < 0.8 else chance.choice(self.others)
