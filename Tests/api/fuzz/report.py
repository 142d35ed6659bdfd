"""What a run has asked, and what it was answered."""

import collections
import datetime

from stage import UNREACHED


def unexplained(stage):
    """The operations that have not succeeded, without those that need not."""
    return [operation.id for operation in stage.missing() if operation.id not in UNREACHED]


def statuses(stage):
    """The number of responses by status."""
    total = collections.Counter()
    for (_, status), count in stage.journal.counts.items():
        total[status] += count
    return sorted(total.items(), key=str)


def summarize(stage, seconds):
    """Prints the numbers by operation and status."""
    counts = collections.defaultdict(list)
    for (id, status), count in sorted(stage.journal.counts.items(), key=str):
        counts[id].append(f"{status}: {count}")
    for id, texts in sorted(counts.items()):
        print(f"  {id:28}", "  ".join(texts))
    for operation in stage.missing():
        reason = UNREACHED.get(operation.id)
        print(f"without success: {operation.id}" + (f", since {reason}" if reason else ""))
    total = statuses(stage)
    print(f"{sum(count for _, count in total)} requests in {seconds} s: " + ", ".join(f"{count} of {status}" for status, count in total))
    print(f"{len(stage.findings.kinds)} findings, {stage.findings.count} times; SEED={stage.seed}", flush=True)


def figures(stage, seconds):
    """A table for a document."""
    total = statuses(stage)
    rows = {
        f"seed {stage.seed}": datetime.date.today().isoformat(),
        "duration": f"{seconds} s",
        "requests": f"{sum(count for _, count in total)}, of them {stage.races} races of {stage.raced} requests",
        "operations that succeeded": f"{len(stage.document.operations) - len(stage.missing())} of {len(stage.document.operations)}",
        "statuses": ", ".join(f"{count} {status}" for status, count in total if status != "none"),
        "clients that left before an answer, or whose upload another request has ended": str(dict(total).get("none", 0)),
        "texts that not everybody may see": str(len(stage.world.secrets)),
        "findings": "none",
    }
    lines = [f"| {name} | {value} |" for name, value in rows.items()]
    return "\n".join([lines[0], "|---|---|", *lines[1:]]) + "\n"
