"""Extreme values: what a parameter, a field or a body has in place of a value that its schema permits."""

import json

NUMBERS = [
    0, -1, 1, 2**31 - 1, 2**31, 2**32, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, -(2**63), -(2**63) - 1, 10**40, 1e308, -1e308,
    5e-324, -0.0, 0.5,
]

TEXTS = [
    "", " ", "\0", "a\0b", "\ufeff", "null", "..", "../..", "%2e%2e", "\x7f", "\u0600,", "\u0301\u0301", "e\u0301" * 50, "\u202eRTL\u2066",
    "\ud800", "\udfff\ud800", "\U0010ffff", "👩‍👩‍👧‍👦" * 20, "İıſK", "a" * 201, "a" * 5001, "'; --", "{}", "[]", "1e999", "0x10", "٣",
    "\r\nX-Injected: 1", "-", "0-0", "9" * 30, "zzzzzzzzzzzz-zzzzzzzzzzzz",
]

TIMES = [
    "0001-01-01T00:00:00Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "10000-01-01T00:00:00Z", "1969-12-31T23:59:59Z",
    "2026-02-30T00:00:00Z", "2026-12-31T23:59:60Z", "2026-01-01T00:00:00+23:59", "2026-01-01T00:00:00-99:99", "-0001-01-01T00:00:00Z",
    "2026-01-01", "2262-04-11T23:47:16.854775808Z", "294277-01-01T00:00:00Z",
]

LENGTHS = [0, 1, -1, 2**31, 2**53, 2**63 - 2, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30]


def deep(levels, chance):
    """JSON of many levels."""
    start, end = chance.choice([("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
    return start * levels + "1" + end * levels


def value(chance):
    """Any extreme value that JSON can express."""
    return chance.choice([
        lambda: chance.choice(NUMBERS), lambda: chance.choice(TEXTS), lambda: chance.choice(TIMES), lambda: None,
        lambda: chance.random() < 0.5, lambda: [], lambda: {}, lambda: [chance.choice(NUMBERS)] * chance.choice([1, 101, 600]),
        lambda: {chance.choice(TEXTS): chance.choice(TEXTS)}, lambda: [[[[[[[[1]]]]]]]],
    ])()


def text(chance):
    """An extreme value of a parameter."""
    return str(chance.choice([chance.choice(NUMBERS), chance.choice(TEXTS), chance.choice(TIMES)]))


def changed(content, chance):
    """JSON with one part exchanged, added or removed."""
    if isinstance(content, dict) and content and chance.random() < 0.8:
        name = chance.choice(sorted(content))
        if chance.random() < 0.2:
            return {key: item for key, item in content.items() if key != name}
        return {**content, name: changed(content[name], chance)}
    if isinstance(content, list) and content and chance.random() < 0.6:
        index = chance.randrange(len(content))
        if chance.random() < 0.2:
            return content * chance.choice([2, 50])
        return content[:index] + [changed(content[index], chance)] + content[index + 1:]
    if isinstance(content, dict) and chance.random() < 0.3:
        return {**content, chance.choice(TEXTS + ["id", "status", "counts"]): value(chance)}
    return value(chance)


def encoded(content, chance):
    """JSON as bytes; lone surrogates are escaped, numbers are written as they are."""
    return json.dumps(content, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")


def broken(data, chance):
    """Bytes that are no JSON, or JSON in a form that few send."""
    return chance.choice([
        lambda: b"", lambda: data[:-1], lambda: data + b"x", lambda: data * 2, lambda: b"\xff\xfe" + data, lambda: data.replace(b'"', b"'"),
        lambda: b"\xef\xbb\xbf" + data, lambda: deep(chance.choice([15, 16, 17, 1000, 20_000]), chance).encode(),
        lambda: b'{"a":' + b"1" * 1000 + b"}", lambda: b"[" + b"[],[{}]," * 4000 + b"1]", lambda: b'{"kind":"marker","kind":"photo"}',
        lambda: data.decode("utf-8", "replace").encode("utf-16"), lambda: b" " * 60_000 + data, lambda: b'"\xed\xa0\x80"',
    ])()
