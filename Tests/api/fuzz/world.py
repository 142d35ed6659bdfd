"""What exists, as far as the actors know: the things that they draw from, and the texts that not everybody may see."""

import collections
import itertools
import re
import threading
import time

# A text of the world in a response.
MARKER = re.compile(rb"mk[0-9]{9}x")

# Who sees a text that is seen by all.
EVERYBODY = None

# Ids of nothing, in all forms.
UNKNOWN = ["00000000-0000-7000-8000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", "0", "-1", "9223372036854775808"]

FRIENDS = ["ada", "bob", "carl", "dora"]
PLACES, ITINERARIES = ["lake", "gate", "hut", "café ☕", "a/b"], ["spring", "winter"]


class Secret:
    """A text, and the users who may see it. The set only grows; `gone` is the time from which no user sees it, `never` has those who do not."""

    def __init__(self, readers, never=()):
        self.readers, self.never, self.gone = readers, never, None


class Thing:
    """Something that exists at a path."""

    def __init__(self, path, values, owner, marker=None):
        self.path, self.values, self.owner, self.marker, self.facts = path, values, owner, marker, {}


class World:
    """The shared model. Things are added once the service has answered; a secret is one before its text is sent."""

    def __init__(self):
        self.lock, self.things, self.secrets = threading.Lock(), collections.defaultdict(list), {}
        self.serial, self.met = itertools.count(1), collections.defaultdict(set)
        self.former, self.uploads = collections.deque(maxlen=200), []

    def marker(self, readers, never=()):
        """A new text that only these users may see, and clients that act as no user."""
        # Longer than what an id of the service might say by chance.
        text = f"mk{next(self.serial):09}x"
        with self.lock:
            self.secrets[text] = Secret(readers, never)
        return text

    def open(self, marker, readers=EVERYBODY):
        """Lets more users see a text: before the request that may show it to them."""
        with self.lock:
            secret = self.secrets.get(marker)
            if secret and secret.readers is not EVERYBODY:
                secret.readers = EVERYBODY if readers is EVERYBODY else secret.readers | set(readers)

    def unblock(self, marker, author):
        """Lets those see a text whom its author has blocked if a request names another author, who has blocked none of the actors."""
        if author not in (None, *FRIENDS):
            with self.lock:
                self.secrets[marker].never = ()

    def meet(self, user, other):
        """Two users may be friends from now on: each may see what the other one shows to friends."""
        with self.lock:
            self.met[user].add(other)
            self.met[other].add(user)
            for things in self.things.values():
                for thing in things:
                    if thing.marker and thing.facts.get("visibility") == "friends" and thing.owner in (user, other):
                        secret = self.secrets[thing.marker]
                        if secret.readers is not EVERYBODY:
                            secret.readers = secret.readers | {user, other}

    def add(self, path, values, owner, marker=None, **facts):
        thing = Thing(path, values, owner, marker)
        thing.facts = facts
        with self.lock:
            things = self.things[path]
            things.append(thing)
            # Few things, so that many requests meet at each.
            if len(things) > 40:
                self.former.append(things.pop(0))
        return thing

    def draw(self, path, chance, owner=None):
        """Something at a path, often what was added last, and of an owner if one is named and has some; None if there is none."""
        with self.lock:
            things = list(self.things[path])
        own = [thing for thing in things if owner and thing.owner == owner]
        things = own or things
        if not things:
            return None
        return chance.choice(things[-4:] if chance.random() < 0.6 else things)

    def forget_uploads(self, ids):
        with self.lock:
            self.uploads = ids[:8]

    def forgotten_upload(self):
        """The id of an upload that takes a place of another one; None if there is none."""
        with self.lock:
            return self.uploads.pop() if self.uploads else None

    def remove(self, thing):
        """Forgets what was deleted; a few stay, so that requests meet what is gone."""
        with self.lock:
            if thing in self.things[thing.path]:
                self.things[thing.path].remove(thing)
            self.former.append(thing)
            if thing.marker in self.secrets and thing.facts.get("ends_with_it"):
                self.secrets[thing.marker].gone = time.monotonic()

    def seen(self, exchange):
        """The texts in a response that its client must not see."""
        viewer = exchange.actor.user
        wrong = []
        for text in set(MARKER.findall(exchange.content)):
            secret = self.secrets.get(text.decode())
            if not secret or text in exchange.body or text in exchange.target.encode("utf-8", "replace"):
                continue
            if secret.gone is not None and secret.gone < exchange.began and "idempotency-replayed" not in exchange.answer:
                wrong.append(f"{text.decode()}, which was deleted before the request")
            elif viewer in secret.never:
                wrong.append(f"{text.decode()}, whose author has blocked {viewer}")
            elif secret.readers is not EVERYBODY and viewer not in secret.readers and not exchange.actor.is_operator:
                wrong.append(f"{text.decode()}, which only {sorted(secret.readers)} may see")
        return wrong
