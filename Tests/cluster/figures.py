"""The figures of a run, as a table of docs/reliability.md."""

import re


def counted(counts, order=None):
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items(), key=order))


def table(run, checks, recoveries, readers, growths, times):
    """`times` are those at which the load began, all was acknowledged, and all was ready."""
    ledger, weather, figures, (loaded, submitted, finished) = run.ledger, run.weather, checks.figures(), times
    silence = lambda start, end: f"{ledger.silence(start, end)[0]:.1f} s"
    operators = {"restore": "backup restored", "promote": "failover", "forget": "failover that forgets", "rejoin": "standby back"}
    largest = max((last / first for first, last in growths.values()), default=None)
    lines = {
        "seed": run.options.seed,
        "acknowledged": counted(ledger.kinds),
        "faults": f"{weather.done.total()}: {counted(weather.done)}",
        "operators": counted({operators[name]: count for name, count in recoveries.done.items()}),
        "forgotten": f"{checks.forgotten.total()}, all acknowledged in the {sum(end - start for start, end in ledger.losses):.0f} s in which it"
                     f" was possible: {counted(checks.forgotten)}",
        "readers of events": readers.summary(),
        "repeated by clients": f"{ledger.retries.total()}: {counted(ledger.retries, str)}",
        "acknowledged by a stored response": ledger.replays,
        "attempts": f"{figures['attempts']}, and {figures['lost']} lost with their worker; {figures['retried']} jobs had more than one",
        "longest time without an answer": f"{silence(loaded, recoveries.restored)} around the restored backup, {silence(recoveries.restored, submitted)}"
                                          f" afterwards; around the failover {silence(recoveries.promoted - 5, min(recoveries.promoted + 120, submitted))}",
        "the former primary came back by": ", ".join(recoveries.ways),
        "RSS at the end to that after a tenth": f"at most {largest:.2f}, of {len(growths)} processes" if largest else "no process lived for long",
        "duration": f"{submitted - loaded:.0f} s until all was acknowledged, {finished - loaded:.0f} s until all was ready",
    }
    return "".join(f"| {name} | {value} |\n" for name, value in lines.items()).replace("\n", "\n|---|---|\n", 1)


def write(path, name, text):
    """Replaces what is between the markers of a name."""
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.S)
    before = path.read_text()
    if not pattern.search(before):
        raise ValueError(f"{path} has no place for {name}")
    path.write_text(pattern.sub(lambda found: found[1] + text + found[2], before))
