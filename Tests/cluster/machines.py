"""Machines made of network namespaces: each has an address of its own on a bridge, which lies in a namespace as well."""

import contextlib
import ctypes
import itertools
import os
import pathlib
import signal
import subprocess
import time

# The addresses exist in the namespaces only.
NETWORK = "10.91.5."
NAMES = ("client", "proxy", "api-1", "api-2", "worker-1", "worker-2", "db-1", "db-2", "store")
BRIDGE = "take5-net"
CLONE_NEWNET = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)


def run(*arguments, **options):
    """Runs a program and returns its output; a failure is an error with the output in it."""
    arguments = [str(argument) for argument in arguments]
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)}: status {done.returncode}\n{done.stdout.strip()}")
    return done.stdout


def wait_until(condition, what, seconds=60, pause=0.1):
    """Returns the first true value of a condition; `what` says what is waited for."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(pause)
    raise TimeoutError(f"{what}: not within {seconds} s")


def remove_all():
    """Ends what runs in the namespaces of a former run, which may have been killed, and removes them."""
    existing = {line.split()[0] for line in run("ip", "netns", "list").splitlines() if line}
    ours = existing & {BRIDGE, *(f"take5-{name}" for name in NAMES)}
    for name in ours:
        end = time.monotonic() + 20
        while (pids := run("ip", "netns", "pids", name).split()) and time.monotonic() < end:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            time.sleep(0.05)
    for name in ours:
        run("ip", "netns", "delete", name)


class Machine:
    def __init__(self, name, number):
        self.name, self.space, self.address = name, f"take5-{name}", f"{NETWORK}{number}"
        self.rules = {}
        run("ip", "netns", "add", self.space)
        run("ip", "link", "add", "eth0", "netns", self.space, "type", "veth", "peer", "name", f"port{number}", "netns", BRIDGE)
        run("ip", "-n", BRIDGE, "link", "set", f"port{number}", "master", "bridge", "up")
        run("ip", "-n", self.space, "link", "set", "lo", "up")
        run("ip", "-n", self.space, "address", "add", f"{self.address}/24", "dev", "eth0")
        run("ip", "-n", self.space, "link", "set", "eth0", "up")
        self.nft("add table inet faults",
                 "add chain inet faults input { type filter hook input priority 0; }",
                 "add chain inet faults output { type filter hook output priority 0; }")

    def inside(self, *arguments):
        """The command line of a program that runs on this machine."""
        return ["ip", "netns", "exec", self.space, *(str(argument) for argument in arguments)]

    def run(self, *arguments, **options):
        return run(*self.inside(*arguments), **options)

    def enter(self):
        """Moves the calling thread, and none of the others, to this machine's network."""
        with open(f"/run/netns/{self.space}") as space:
            if libc.setns(space.fileno(), CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), f"setns {self.space}")

    def nft(self, *commands):
        return self.run("nft", "--handle", "--echo", "-f", "-", input="".join(f"{command}\n" for command in commands))

    def add_rule(self, chain, rule):
        """Adds a rule and returns what removes it."""
        handle = self.nft(f"add rule inet faults {chain} {rule}").rsplit("# handle ", 1)[1].split()[0]
        return lambda: self.nft(f"delete rule inet faults {chain} handle {handle}")

    def slow_down(self, kilobits):
        """Limits the rate of what the machine sends (netem is not in every kernel); returns what ends it."""
        self.run("tc", "qdisc", "replace", "dev", "eth0", "root", "tbf", "rate", f"{kilobits}kbit", "burst", "32kb", "latency", "400ms")
        return lambda: self.run("tc", "qdisc", "delete", "dev", "eth0", "root")

    def processes(self):
        """The processes on this machine by their number, with their names; those of a sandbox are in other namespaces."""
        found = {}
        for pid in run("ip", "netns", "pids", self.space).split():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                found[int(pid)] = pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
        return found


def signal_all(pids, number):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def parent(pid):
    """The parent of a process; nothing if it has ended."""
    try:
        state, number = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[:2]
        return None if state == "Z" else int(number)
    except (FileNotFoundError, ProcessLookupError):
        return None


def descendants(root):
    """The processes below a process, with their names, whatever their namespaces."""
    children = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            head, rest = path.read_text().rsplit(")", 1)
            pid, name = head.split(" (", 1)
            children.setdefault(int(rest.split()[1]), []).append((int(pid), name))
    found, waiting = {}, [root]
    while waiting:
        for pid, name in children.get(waiting.pop(), ()):
            found[pid] = name
            waiting.append(pid)
    return found


class Network:
    """All machines."""

    def __init__(self):
        remove_all()
        run("ip", "netns", "add", BRIDGE)
        run("ip", "-n", BRIDGE, "link", "add", "bridge", "type", "bridge")
        run("ip", "-n", BRIDGE, "link", "set", "bridge", "up")
        self.machines = {name: Machine(name, number) for number, name in enumerate(NAMES, 11)}

    def __getitem__(self, name):
        return self.machines[name]

    def pairs(self):
        return list(itertools.combinations(NAMES, 2))
