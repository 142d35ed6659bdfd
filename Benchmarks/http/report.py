"""Figures with their goals, as lines for programs and as tables in a document, like those of the other benchmarks."""

import datetime
import os
import pathlib
import statistics


class Figure:
    """A measured number: a value of each run, and what it was computed from."""

    def __init__(self, name, meaning, values, *, at_most=None, at_least=None, decimals=2, details=()):
        self.name, self.meaning, self.values, self.details = name, meaning, list(values), list(details)
        self.at_most, self.at_least, self.decimals = at_most, at_least, decimals

    @property
    def value(self):
        return statistics.median(self.values)

    @property
    def goal(self):
        """What the value must be, in words; None: it has no goal."""
        for name, bound in [("at most", self.at_most), ("at least", self.at_least)]:
            if bound is not None:
                return f"{name} {bound:.2f}"
        return None

    @property
    def is_met(self):
        return self.value <= self.at_most if self.at_least is None else self.value >= self.at_least

    def text(self, value):
        return f"{value:.{self.decimals}f}"

    @property
    def source(self):
        """The medians of what the figure was computed from; a detail has a name, values and decimals."""
        return "; ".join(f"{name}: {statistics.median(values):.{decimals}f}" for name, values, decimals in self.details)


class Report:
    """The figures of one run of the benchmark."""

    def __init__(self, runs, target="bench-http"):
        """`target` is that of the Makefile, which the document names."""
        self.runs, self.figures = runs, []
        self._begin, self._end = (f"<!-- written by 'make {target}': {mark} -->" for mark in ("begin", "end"))

    def add(self, figure):
        """Adds a figure, and prints it at once: a run takes minutes."""
        self.figures.append(figure)
        spread = f" ({figure.text(min(figure.values))} to {figure.text(max(figure.values))})" if len(figure.values) > 1 else ""
        verdict = "" if figure.goal is None else f", {figure.goal}: {'met' if figure.is_met else 'MISSED'}"
        print(f"figure {figure.name} {figure.text(figure.value)}{spread}{verdict}; {figure.source}", flush=True)

    def markdown(self):
        lines = [f"{machine()}; {self.runs} run{'' if self.runs == 1 else 's'}.", ""]
        lines += ["| figure | goal | median | min | max | met | from |", "|---|---|---|---|---|---|---|"]
        for figure in (figure for figure in self.figures if figure.goal):
            values = [figure.text(value) for value in (figure.value, min(figure.values), max(figure.values))]
            met = "met" if figure.is_met else "**missed**"
            lines += [f"| `{figure.name}` | {figure.goal} | {' | '.join(values)} | {met} | {figure.source} |"]
        lines += ["", "| also measured |  | value | from |", "|---|---|---|---|"]
        for figure in (figure for figure in self.figures if not figure.goal):
            lines += [f"| `{figure.name}` | {figure.meaning} | {figure.text(figure.value)} | {figure.source} |"]
        return "\n".join(lines)

    def write(self, path):
        """Replaces the part of a document that this benchmark writes."""
        path = pathlib.Path(path)
        head, begin, rest = path.read_text().partition(self._begin)
        _, end, tail = rest.partition(self._end)
        if not end:
            raise SystemExit(f"{path} does not contain the lines {self._begin} and {self._end}")
        path.write_text(f"{head}{begin}\n\n{self.markdown()}\n\n{end}{tail}")


def machine():
    """Returns the date and the machine in one line."""
    processor = pathlib.Path("/proc/cpuinfo").read_text().partition("model name\t: ")[2].partition("\n")[0]
    debian = pathlib.Path("/etc/debian_version").read_text().strip()
    return f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}, {os.cpu_count()} cores of {processor}, Debian {debian}"
