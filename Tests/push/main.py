"""main.py PROBE: sends notifications with the sender of take5 to providers that check them by libraries of others (provider.py)."""
import base64
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import babel
import jwt
import py_vapid

import figures
from keys import Setup

PROBE = Path(sys.argv[1]).resolve()
HERE = Path(__file__).parent


class Provider:
    def __init__(self, folder, *options):
        self.folder = folder
        self.process = subprocess.Popen([sys.executable, HERE / "provider.py", folder, *options], stdout=subprocess.PIPE, text=True)
        self.ports = [int(port) for port in self.process.stdout.readline().split()]
        self.port = self.ports[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def log(self):
        return [json.loads(line) for line in (self.folder / f"{self.port}.log").read_text().splitlines()]


class Run:
    """The outcomes of some devices, and what the provider has accepted meanwhile."""

    def __init__(self, setup, provider, devices, notification=None, **changes):
        before = len(provider.log())
        started = time.monotonic()
        self.outcomes = send(setup, provider, devices, notification, **changes)
        self.seconds = time.monotonic() - started
        self.accepted = provider.log()[before:]


def order(setup, provider, notification=None, **changes):
    shown = {"title": "Zeit zu filmen", "body": "Du hast fünf Minuten.", "collapse_id": "window-2026-11-28", "expires_in": 300}
    return {"apns": str(setup.folder / "apns.json"), "fcm": str(setup.folder / "fcm.json"), "web_push": str(setup.folder / "vapid.json"),
            "port": provider.port, "certificates": str(setup.folder / "ca.pem"), "permitted": ["127.0.0.0/8"], "timeout": 10,
            "notification": shown | (notification or {}), **changes}


def send(setup, provider, devices, notification=None, tracer=(), **changes):
    text = json.dumps(order(setup, provider, notification, **changes) | {"devices": devices})
    run = subprocess.run([*tracer, PROBE], input=text, stdout=subprocess.PIPE, text=True, timeout=120, check=True)
    return json.loads(run.stdout)


def apns(prefix, number=0):
    return {"apns": prefix + f"{number:0{64 - len(prefix)}x}"}


TESTS = []


def test(function):
    TESTS.append(function)
    return function


def check(found, expected):
    assert found == expected, f"{found!r} is not {expected!r}"


def begins(found, expected):
    assert found.startswith(expected), f"{found!r} does not begin with {expected!r}"


@test
def apple_accepts(setup, provider):
    run = Run(setup, provider, [apns("00", n) for n in range(1500)], {"media_url": "https://cdn.example.org/a.jpg", "badge": 3})
    assert all(outcome.startswith("delivered") for outcome in run.outcomes), set(run.outcomes)
    check(len({entry["device"] for entry in run.accepted}), 1500)
    check(len({entry["headers"]["apns-id"] for entry in run.accepted}), 1500)
    entry = run.accepted[0]
    payload = json.loads(base64.b64decode(entry["body"]))
    check(payload["aps"]["alert"], {"title": "Zeit zu filmen", "body": "Du hast fünf Minuten."})
    check((payload["aps"]["mutable-content"], payload["aps"]["badge"]), (1, 3))
    check(payload["media_url"], "https://cdn.example.org/a.jpg")
    check(entry["headers"]["apns-collapse-id"], "window-2026-11-28")
    check(entry["headers"]["apns-priority"], "10")
    check(len({entry["authorization"] for entry in run.accepted}), 1)


@test
def plurals_are_those_of_cldr(setup, provider):
    numbers = [*range(1300), 10_000, 20_000, 40_000, 60_000, 100_000, 200_000, 1_000_000, 1_000_001, 2_000_000, 3_000_010]
    locales = sorted({name.split("_")[0] for name in babel.localedata.locale_identifiers()}) + ["pt_PT"]
    asked = {"locales": [locale.replace("_", "-") for locale in locales], "numbers": numbers}
    text = json.dumps(order(setup, provider) | {"plurals": asked})
    found = json.loads(subprocess.run([PROBE], input=text, stdout=subprocess.PIPE, text=True, timeout=120, check=True).stdout)
    for locale in locales:
        rule = babel.Locale.parse(locale).plural_form
        expected = [rule(number) for number in numbers]
        wrong = [(number, got, wanted) for number, got, wanted in zip(numbers, found[locale.replace("_", "-")], expected, strict=True)
                 if got != wanted]
        assert not wrong, (locale, wrong[:5])


@test
def a_server_gets_two_connections(setup, _):
    # The resolver takes its time.
    tracer = ["strace", "--follow-forks", "--output=/dev/null", "--trace-path=/etc/hosts", "--inject=openat:delay_enter=300ms"]
    with Provider(setup.folder) as provider:
        run = Run(setup, provider, [apns("00", n) for n in range(5000)], tracer=tracer)
    check(max(entry["connections"] for entry in run.accepted), 2)


@test
def apple_refuses(setup, provider):
    names = ["bad0", "4001", "4100", "4130", "4290", "5000", "00"]
    run = Run(setup, provider, [apns(name, 7) for name in names])
    begins(run.outcomes[0], 'deviceRefused("BadDeviceToken")')
    begins(run.outcomes[1], 'deviceRefused("DeviceTokenNotForTopic")')
    begins(run.outcomes[2], "gone(since: Optional(1700000000))")
    begins(run.outcomes[3], 'refused("PayloadTooLarge")')
    begins(run.outcomes[4], 'retry(after: nil, "TooManyRequests")')
    begins(run.outcomes[5], 'retry(after: nil, "InternalServerError")')
    begins(run.outcomes[6], "delivered")


@test
def an_expired_provider_token_is_renewed_once(setup, provider):
    run = Run(setup, provider, [apns("00", n) for n in range(100)] + [apns("4030")] + [apns("00", n) for n in range(100, 200)])
    assert all(outcome.startswith("delivered") for outcome in run.outcomes), set(run.outcomes)
    check(len({entry["authorization"] for entry in run.accepted}), 2)
    run = Run(setup, provider, [apns("4031"), apns("00", 1)])
    begins(run.outcomes[0], "credentialsRefused")
    begins(run.outcomes[1], "delivered")


@test
def a_key_that_apple_does_not_know_is_refused(setup, provider):
    run = Run(setup, provider, [apns("00")], apns=str(setup.folder / "apns-other.json"))
    begins(run.outcomes[0], 'credentialsRefused("InvalidProviderToken")')


@test
def goaway_in_the_middle_loses_nothing_and_doubles_nothing(setup, provider):
    devices = [apns("00", n) for n in range(1000)]
    for place in (10, 500, 501, 990):
        devices[place] = apns("60a0", place)
    run = Run(setup, provider, devices)
    assert all(outcome.startswith("delivered") for outcome in run.outcomes), set(run.outcomes)
    check(sorted(entry["device"] for entry in run.accepted), sorted(device["apns"] for device in devices))


@test
def a_stalled_stream_ends_alone(setup, provider):
    run = Run(setup, provider, [apns("57a1")] + [apns("00", n) for n in range(200)])
    begins(run.outcomes[0], 'unknown("no response within')
    assert all(outcome.startswith("delivered") for outcome in run.outcomes[1:]), set(run.outcomes)
    assert run.seconds >= 10, run.seconds


@test
def a_dead_connection_is_replaced(setup, provider):
    # One connection, so that what follows is behind the dead one.
    run = Run(setup, provider, [apns("dead")] + [apns("00", n) for n in range(1200)])
    begins(run.outcomes[0], "unknown")
    # What was on the wire is unknown, and what waited is delivered: each device is sent to once.
    check({outcome.split("(")[0] for outcome in run.outcomes}, {"unknown", "delivered"})
    accepted = [entry["device"] for entry in run.accepted]
    check(len(accepted), len(set(accepted)))
    check(len(accepted), sum(outcome.startswith("delivered") for outcome in run.outcomes))


@test
def a_connection_that_is_cut_leaves_what_was_on_the_wire_unknown(setup, provider):
    run = Run(setup, provider, [apns("00", n) for n in range(300)] + [apns("c105")] + [apns("00", n) for n in range(300, 1500)])
    check(len(run.outcomes), 1501)
    check({outcome.split("(")[0] for outcome in run.outcomes}, {"unknown", "delivered"})
    accepted = [entry["device"] for entry in run.accepted]
    check(len(accepted), len(set(accepted)))
    assert sum(outcome.startswith("delivered") for outcome in run.outcomes) <= len(accepted)


@test
def a_short_pause_is_waited_for_and_a_long_one_given_back(setup, provider):
    run = Run(setup, provider, [apns("5031")])
    begins(run.outcomes[0], "retry(after: Optional(1)")
    # The first one asks for a pause of a second, in which those that are not on the wire yet wait.
    run = Run(setup, provider, [apns("5031", 1)] + [apns("00", n) for n in range(1500)])
    begins(run.outcomes[0], "retry(after: Optional(1)")
    assert all(outcome.startswith("delivered") for outcome in run.outcomes[1:]), set(run.outcomes)
    assert run.seconds >= 1, run.seconds
    run = Run(setup, provider, [apns("5039")] + [apns("00", n) for n in range(1500)])
    begins(run.outcomes[-1], "retry(after: Optional(600)")


@test
def what_has_expired_is_not_sent(setup, provider):
    run = Run(setup, provider, [apns("00"), {"fcm": "a"}], {"expires_in": -1})
    check((run.outcomes, run.accepted), (["expired"] * 2, []))


@test
def long_texts_are_shortened_between_characters(setup, provider):
    flag = "\U0001F1E9\U0001F1EA"
    browser = setup.subscription(provider.port, "long")
    run = Run(setup, provider, [apns("00"), {"fcm": "long"}, browser.device], {"body": flag * 2000})
    assert all(outcome.startswith("delivered") for outcome in run.outcomes), run.outcomes
    bodies = {}
    for entry in run.accepted:
        raw = base64.b64decode(entry["body"])
        assert 4000 < len(raw) <= 4096, len(raw)
        bodies[entry["provider"]] = browser.decrypt(raw) if entry["provider"] == "webpush" else json.loads(raw)
    texts = [bodies["apns"]["aps"]["alert"]["body"], bodies["fcm"]["message"]["notification"]["body"], bodies["webpush"]["body"]]
    for text in texts:
        assert text.endswith("…") and text[:-1] == flag * ((len(text) - 1) // 2), text[-5:]


@test
def google_accepts_and_refuses(setup, provider):
    names = ["good", "unregistered", "mismatch", "malformed", "invalid", "internal", "thirdparty", "expired", "unavailable"]
    run = Run(setup, provider, [{"fcm": name} for name in names], {"media_url": "https://cdn.example.org/a.jpg"})
    expected = ["delivered", "gone(since: nil)", 'deviceRefused("SENDER_ID_MISMATCH")', 'deviceRefused("INVALID_ARGUMENT")',
                'refused("INVALID_ARGUMENT")', 'retry(after: nil, "INTERNAL")', 'retry(after: nil, "THIRD_PARTY_AUTH_ERROR")',
                "delivered", 'retry(after: Optional(1), "UNAVAILABLE")']
    for found, begin in zip(run.outcomes, expected, strict=True):
        begins(found, begin)
    message = json.loads(base64.b64decode(run.accepted[0]["body"]))["message"]
    check(message["android"]["collapse_key"], "window-2026-11-28")
    assert 290 <= int(message["android"]["ttl"][:-1]) <= 300, message
    check(message["notification"]["image"], "https://cdn.example.org/a.jpg")
    check(message["data"], {"post": "1", "kind": "window"})
    run = Run(setup, provider, [{"fcm": "quota"}])
    begins(run.outcomes[0], 'retry(after: Optional(60), "QUOTA_EXCEEDED")')


@test
def a_service_account_that_google_does_not_know_is_refused(setup, provider):
    run = Run(setup, provider, [{"fcm": f"d{n}"} for n in range(3)], fcm=str(setup.folder / "fcm-other.json"))
    assert all(outcome.startswith("credentialsRefused") for outcome in run.outcomes), run.outcomes


@test
def a_push_service_of_the_tests_own_is_sent_to(setup, provider):
    devices = [{"pager": f"{7:064x}"}, apns("00", 8), {"pager": f"bad0{0:060x}"}]
    run = Run(setup, provider, devices, pager=str(setup.folder / "apns.json"))
    for found, expected in zip(run.outcomes, ["delivered", "delivered", 'deviceRefused("BadDeviceToken")'], strict=True):
        begins(found, expected)
    check({entry["device"] for entry in run.accepted}, {f"{7:064x}", f"{8:064x}"})
    run = Run(setup, provider, devices)
    check(run.outcomes[0], 'credentialsRefused("no credentials for the provider")')


@test
def browsers_decrypt_what_is_sent(setup, provider):
    browsers = [setup.subscription(provider.port, f"b{n}") for n in range(40)]
    run = Run(setup, provider, [browser.device for browser in browsers], {"media_url": "https://cdn.example.org/a.jpg"})
    assert all(outcome.startswith("delivered") for outcome in run.outcomes), set(run.outcomes)
    entries = {entry["device"]: entry for entry in run.accepted}
    check(len({base64.b64decode(entry["body"])[:16] for entry in run.accepted}), 40)
    for number, browser in enumerate(browsers):
        entry = entries[f"b{number}"]
        message = browser.decrypt(base64.b64decode(entry["body"]))
        check((message["title"], message["media_url"], message["kind"]), ("Zeit zu filmen", "https://cdn.example.org/a.jpg", "window"))
        check(entry["headers"]["urgency"], "high")
        assert 290 <= int(entry["headers"]["ttl"]) <= 300
        assert py_vapid.Vapid02.verify(entry["authorization"])
        parts = dict(part.split("=", 1) for part in entry["authorization"].removeprefix("vapid ").split(","))
        check(parts["k"], setup.vapid_public)
        claims = jwt.decode(parts["t"], setup.vapid_key.public_key(), algorithms=["ES256"], audience=f"https://localhost:{provider.port}")
        check(claims["sub"], "mailto:ops@example.org")
        assert claims["exp"] <= time.time() + 86_400


@test
def push_services_refuse(setup, provider):
    devices = [setup.subscription(provider.port, name).device for name in ("gone", "redirect", "busy")]
    run = Run(setup, provider, devices)
    begins(run.outcomes[0], "gone")
    begins(run.outcomes[1], 'deviceRefused("status 301')
    begins(run.outcomes[2], "retry(after: Optional(")
    check(run.accepted, [])


@test
def a_server_that_closes_all_connections_gets_no_more_of_them(setup, _):
    with Provider(setup.folder, "--closing") as provider:
        run = Run(setup, provider, [apns("00", n) for n in range(10)])
    check(set(run.outcomes), {f'retry(after: nil, "https://localhost:{provider.port}: the server has closed the connection")'})


@test
def a_server_that_takes_no_request_is_not_waited_for(setup, _):
    for option in ("--trickling", "--no-streams"):
        with Provider(setup.folder, option) as provider:
            run = Run(setup, provider, [apns("00", n) for n in range(10)], timeout=2)
        expected = f'retry(after: nil, "https://localhost:{provider.port}: the server accepts no request within 2.0 seconds")'
        check(set(run.outcomes), {expected})


@test
def what_was_not_on_the_wire_of_a_lost_connection_is_sent_again(setup, _):
    with Provider(setup.folder, "--freezing") as provider:
        device = setup.subscription(provider.port, "x" * 1900).device
        run = Run(setup, provider, [device | {"endpoint": device["endpoint"] + str(n)} for n in range(500)])
    check({outcome.split("(")[0] for outcome in run.outcomes}, {"unknown", "delivered"})
    accepted = [entry["device"] for entry in run.accepted]
    check(len(accepted), len(set(accepted)))
    check(len(accepted), sum(outcome.startswith("delivered") for outcome in run.outcomes))


@test
def the_pauses_of_many_servers_are_forgotten(setup, _):
    with Provider(setup.folder, "--ports") as provider:
        devices = [setup.subscription(port, "paused").device for port in provider.ports]
        run = Run(setup, provider, devices[:200], repeats=2)
        assert all("the server has asked for a pause" in outcome for outcome in run.outcomes), set(run.outcomes)
        run = Run(setup, provider, devices, repeats=2)
        check(sum(outcome == 'retry(after: Optional(600), "status 429")' for outcome in run.outcomes), len(devices) - 256)


@test
def a_private_address_is_not_connected_to(setup, provider):
    addresses = ["localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433", "0x7f.1", "169.254.169.254"]
    devices = []
    for address in addresses:
        device = setup.subscription(provider.port, "x").device
        devices.append(device | {"endpoint": f"https://{address}:{provider.port}/push/x"})
    run = Run(setup, provider, devices, permitted=[])
    for outcome in run.outcomes:
        # A machine without IPv6 resolves no address of it.
        assert outcome.startswith("deviceRefused") or "//[::" in outcome and outcome.endswith('cannot be resolved")'), outcome
    check(run.accepted, [])


@test
def a_certificate_of_others_is_not_trusted(setup, provider):
    run = Run(setup, provider, [apns("00")], certificates=str(setup.folder / "other.pem"))
    begins(run.outcomes[0], f'retry(after: nil, "https://localhost:{provider.port}: its certificate')
    check(run.accepted, [])


@test
def a_certificate_of_another_host_is_not_trusted(setup, provider):
    device = setup.subscription(provider.port, "x").device
    run = Run(setup, provider, [device | {"endpoint": f"https://127.0.0.1:{provider.port}/push/x"}])
    begins(run.outcomes[0], f'retry(after: nil, "https://127.0.0.1:{provider.port}: its certificate: IP address mismatch')
    check(run.accepted, [])


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        setup = Setup(Path(folder))
        with Provider(setup.folder) as provider:
            for function in TESTS:
                if len(sys.argv) > 2 and sys.argv[2] not in function.__name__:
                    continue
                try:
                    function(setup, provider)
                    print("ok     ", function.__name__.replace("_", " "), flush=True)
                except Exception as error:  # Whatever a test meets, the others run.
                    failed += 1
                    print("FAILED ", function.__name__.replace("_", " "), type(error).__name__, str(error)[:600], flush=True)
        if len(sys.argv) == 2 or sys.argv[2] == "figures":
            with Provider(setup.folder, "--quiet") as provider:
                failed += figures.measure(PROBE, order(setup, provider), setup.apns_authorization(), provider.port)
    sys.exit(failed > 0)


main()
