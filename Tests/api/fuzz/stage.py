"""The threads of a run: some send one request after the other, one sends several at once."""

import json
import random
import threading
import traceback

from builder import Builder
from connection import Clock, Connection, NoAnswer
from exchange import Exchange
from judge import Findings
from learning import learn
from races import Races
from uploads import Uploads, learn_upload
from values import encoded
from world import FRIENDS

# Operations that a short run need not reach with success, and why.
UNREACHED = {
    "retryJob": "no fault makes a job wait for another attempt",
    "readVAPIDKey": "no worker has credentials of a provider",
    "verifyEmail": "no webhook brings the code",
    "resetForgottenPassword": "no webhook brings the code",
    "replayDelivery": "no endpoint takes a delivery, and one that fails is tried for days",
    "releaseQuarantined": "no media break a media process",
    "readRun": "a run would replace the media that other requests know",
    "changeRun": "a run would replace the media that other requests know",
    "signInToConsole": "a valid body has no key that exists",
}

# The seconds after which an answer is late: no operation takes nearly as long.
TIMEOUT = 10


class Stage:
    """What the threads of a run share."""

    def __init__(self, service, document, world, journal, seed):
        self.service, self.document, self.world, self.journal, self.seed = service, document, world, journal, seed
        self.clock, self.findings, self.stop = Clock(), Findings(journal, service), threading.Event()
        self.cast, self.races, self.raced = None, 0, 0

    def ask(self, actor, method, path, content=None):
        """Sends a request of the setup, which succeeds; returns its JSON."""
        headers = [] if content is None else [("Content-Type", "application/json")]
        body = b"" if content is None else encoded(content, random.Random(0))
        exchange = Exchange(actor, None, method, path, headers, body)
        self.exchange(Connection(self.service.port, self.clock), [exchange])
        if exchange.status is None or exchange.status >= 300:
            raise SystemExit(f"the setup fails:\n{exchange}")
        return json.loads(exchange.content) if exchange.content else None

    def exchange(self, connection, exchanges, connections=()):
        """Sends requests at once, each on a connection of its own, and judges the responses."""
        pairs = list(zip([connection, *connections], exchanges))
        for connection, exchange in pairs:
            self.journal.add(exchange)
            try:
                connection.send(exchange)
            except NoAnswer as failure:
                self.findings.no_answer(exchange, failure)
        for connection, exchange in pairs:
            if exchange.failure:
                continue
            try:
                connection.receive(exchange, exchange.timeout or TIMEOUT)
            except NoAnswer as failure:
                self.findings.no_answer(exchange, failure)
                self.journal.count(exchange)
                continue
            self.journal.count(exchange)
            self.findings.judge(self.world, exchange)
            if hasattr(exchange, "thing"):
                learn_upload(self.world, exchange)
                learn(self.world, exchange)

    def missing(self):
        """The operations that have not succeeded."""
        with self.journal.lock:
            done = {id for (id, status) in self.journal.counts if isinstance(status, int) and status < 300}
        return [operation for id, operation in self.document.operations.items() if id not in done]


class Walker(threading.Thread):
    """A thread that draws requests until the stage stops."""

    def __init__(self, stage, index, is_racer):
        super().__init__(daemon=True)
        self.stage, self.is_racer = stage, is_racer
        self.chance = random.Random(f"{stage.seed}-{index}")
        self.builder = Builder(stage.document, stage.world, stage.cast, self.chance)
        self.uploads = Uploads(self.builder)
        self.races = Races(self.builder, self.uploads)
        self.connections = [Connection(stage.service.port, stage.clock) for _ in range(12)]

    def run(self):
        try:
            while not self.stage.stop.is_set() and not self.stage.service.has_ended():
                self.step()
        except Exception:
            # An error of this program is a finding too: the run has tested less than it says.
            self.stage.findings.report(("fuzzer",), f"the fuzzer fails:\n{traceback.format_exc()}", [])

    def step(self):
        if self.chance.random() < 0.005:
            self.renew()
        exchanges = self.races.draw() if self.is_racer else [self.draw()]
        exchanges = [exchange for exchange in exchanges if exchange][:len(self.connections)]
        if not exchanges:
            return
        if self.is_racer:
            self.stage.races += 1
            self.stage.raced += len(exchanges)
        self.stage.exchange(self.connections[0], exchanges, self.connections[1:])

    def renew(self):
        """Gives the user who is deleted a new token, unless the deletion still goes on, and ends the suspension of another user."""
        operator, operations = self.stage.cast.operator, self.stage.document.operations
        json_type = [("Content-Type", "application/json")]
        body = encoded({"user": self.chance.choice(FRIENDS), "decision": "approve"}, self.chance)
        approval = Exchange(operator, operations["openCase"], "POST", "/v1/moderation/cases", json_type, body)
        minting = Exchange(operator, operations["mintToken"], "POST", "/v1/users/zed/tokens", json_type, b"{}")
        self.stage.exchange(self.connections[0], [approval, minting], self.connections[1:])
        if minting.status == 201:
            self.stage.cast.deleted.credential = json.loads(minting.content)["token"]

    def draw(self):
        number = self.chance.random()
        if number < 0.2:
            return self.uploads.draw()
        missing = [operation for operation in self.stage.missing() if operation.id not in UNREACHED] if number < 0.4 else []
        operation = self.chance.choice(missing or list(self.stage.document.operations.values()))
        return self.builder.build(operation, extremes=0 if missing else None)
