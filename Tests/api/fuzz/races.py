"""Requests that are sent at the same time, because each changes what the others are about."""

import media

# What conflicts about one thing: an operation of the document for each request.
CONFLICTS = [
    ["deletePost", "submitComment", "submitReaction", "changePost", "addLike", "listComments"],
    ["deletePost", "openCase", "changePost", "submitReport", "addBookmark", "readPost"],
    ["changePost", "changePost", "changePost", "readPost"],
    ["changeCollection", "changeCollection", "deleteCollection", "submitCollectionComment", "addMember", "removeMember"],
    ["createLink", "deleteLink", "createLink", "readCollection", "listActivity"],
    ["submitCollectionThumbnail", "deleteCollectionThumbnail", "deleteCollection", "readCollection"],
    ["decideCase", "decideCase", "readCase", "listCases"],
    ["submitProfileImage", "deleteProfileImage", "submitProfileImage", "readProfileImage"],
    ["submitItineraryThumbnail", "deleteItineraryThumbnail", "submitItineraryThumbnail", "readItineraryThumbnail"],
    ["describePlace", "describePlace", "submitPlaceComment", "submitPlacePhoto", "listPlaceUsers", "readPlace"],
    ["addFriend", "removeFriend", "addFriend", "addBlock", "removeBlock", "readFriend"],
    ["addLike", "removeLike", "addLike", "deletePost", "listPostLikes"],
    ["deleteUser", "mintToken", "saveUser", "listTokens", "exportUser", "revokeTokens"],
    ["retryJob", "cancelJob", "readJob", "cancelJob"],
    ["deleteComment", "deleteComment", "submitReport", "readComment"],
    ["saveNote", "deleteNote", "saveNote", "listNotes"],
    ["saveUser", "saveUser", "searchUsers", "readUser"],
]


class Races:
    """Draws races; each is a list of requests."""

    def __init__(self, builder, uploads):
        self.builder, self.uploads, self.chance = builder, uploads, builder.chance

    def draw(self):
        number = self.chance.random()
        return self.reactions_and_blocks() if number < 0.35 else self.upload() if number < 0.55 else self.conflict()

    def conflict(self):
        operations = [self.builder.document.operations[id] for id in self.chance.choice(CONFLICTS)]
        exchanges, things = [], {}
        for operation in operations:
            base = operation.path[:operation.path.rfind("}") + 1]
            thing = things.get(base) or self.builder.subjects.draw(operation)
            things[base] = thing
            if thing:
                exchanges.append(self.builder.build(operation, thing, extremes=0 if self.chance.random() < 0.8 else 1))
        self.chance.shuffle(exchanges)
        return exchanges

    def reactions_and_blocks(self):
        """Users react to a post while its author blocks them; then the author lifts the blocks."""
        chance, cast, operations = self.chance, self.builder.cast, self.builder.document.operations
        post = self.builder.world.draw("/v1/posts/{id}", chance)
        if not post or not post.owner:
            return []
        author = cast.of(post.owner)
        others = [actor for actor in [*cast.friends, cast.stranger] if actor.user != post.owner]
        exchanges = []
        for other in others:
            reaction = self.builder.build(operations["submitReaction"], post, other, extremes=0)
            reaction.body, type = media.form([], [("image", media.png(str(chance.random()), 8))])
            reaction.headers = [("Content-Type", type)]
            exchanges.append(reaction)
            relation = self.relation("addBlock", "removeBlock", author, other)
            exchanges.insert(chance.randrange(len(exchanges) + 1), relation)
        return exchanges

    def relation(self, add, remove, author, other):
        operation = self.builder.document.operations[add if self.chance.random() < 0.5 else remove]
        thing = self.builder.subjects.draw(operation)
        thing.values = {"id": author.user or "ada", "other": other.user}
        return self.builder.build(operation, thing, author, extremes=0)

    def upload(self):
        """Parts of one upload, its state, its removal, and a submission that names it."""
        thing = self.uploads.upload()
        if not thing:
            return [self.uploads.create()]
        exchanges = [self.uploads.append(thing) for _ in range(self.chance.randint(2, 3))]
        if self.chance.random() < 0.5:
            exchanges.append(self.uploads.look(thing))
        if self.chance.random() < 0.7:
            post = self.builder.build(self.builder.document.operations["submitPost"], actor=self.builder.cast.of(thing.owner), extremes=0)
            post.body = b'{"kind":"photo","photo":[{"upload":"%s"}]}' % thing.values["id"].encode()
            post.headers, post.marker = [("Content-Type", "application/json")], None
            exchanges.append(post)
        self.chance.shuffle(exchanges)
        return exchanges
