"""What no response may be, whatever was asked."""

import json

from connection import NoAnswer


def faults(world, exchange):
    """What is wrong with a response."""
    found, operation = [], exchange.operation
    status, answer, content = exchange.status, exchange.answer, exchange.content
    kind = answer.get("content-type", "")
    is_outage = status in (503, 507) and "retry-after" in answer and (not operation or status in operation.statuses)
    if status >= 500 and not is_outage:
        found.append(f"the status is {status}, Retry-After {answer.get('retry-after')}")
    # A path with an empty segment is of no operation.
    is_listed = not operation or operation.lists(status) or status == 404 and "//" in exchange.target.split("?")[0] + "/"
    if not is_listed:
        found.append(f"the document does not list {status} for {operation.id}")
    # A range of a document is a part of it.
    if exchange.method != "HEAD" and status != 206 and ("json" in kind or status >= 400 and status != 416):
        found += malformed(status, kind, content)
    if "x-request-id" not in answer:
        found.append("the response has no X-Request-Id")
    return found + [f"the response has {what}" for what in world.seen(exchange)]


def malformed(status, kind, content):
    """What is wrong with a body that is JSON."""
    if not content and status < 300:
        return []
    try:
        value = json.loads(content.decode("utf-8", "strict"), parse_constant=lambda name: refuse(name))
    except ValueError as failure:
        return [f"the body is no JSON: {failure}"]
    if status >= 400 and (kind.split(";")[0] != "application/problem+json" or value.get("status") != status or not value.get("title")):
        return [f"the body is no problem of status {status}"]
    return []


def refuse(name):
    raise ValueError(f"{name} is not in JSON")


class Findings:
    """What was found; each kind once, with what led to it."""

    def __init__(self, journal, service):
        self.journal, self.service, self.kinds, self.count = journal, service, set(), 0

    def report(self, kind, text, exchanges):
        with self.journal.lock:
            self.count += 1
            if kind in self.kinds:
                return
            self.kinds.add(kind)
        lines = [f"FINDING {len(self.kinds)}: {text}", *(f"  {exchange}" for exchange in exchanges)]
        print("\n".join(lines), flush=True)

    def judge(self, world, exchange):
        for fault in faults(world, exchange):
            operation = exchange.operation.id if exchange.operation else exchange.target.split("?")[0]
            kind = (operation, exchange.status, fault.split(" mk")[0])
            self.report(kind, f"{exchange.method} of {operation}: {fault}", [*self.journal.leading_to(exchange), exchange])

    def no_answer(self, exchange, failure: NoAnswer):
        """A client that waited got nothing: that is a finding, unless the process has ended, which is one of its own."""
        exchange.failure = str(failure)
        # A later request to an upload ends one that still sends to it: docs/uploads.md.
        is_ended = "/v1/uploads/" in exchange.target and self.journal.has_rivals(exchange)
        if exchange.timeout is None and not is_ended and not self.service.ends():
            operation = exchange.operation.id if exchange.operation else exchange.target
            self.report((operation, "none"), f"{operation}: {failure}", [*self.journal.leading_to(exchange), exchange])
