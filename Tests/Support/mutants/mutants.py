#!/usr/bin/env python3
"""Breaks the guards of guards.txt one at a time, and checks that a test of the guard's module, of Worker or of Queue fails.

Only the broken module is compiled again; the other objects are those of the build folder, which 'make test' makes.
Usage: mutants.py BUILD_FOLDER [NUMBER...]
       mutants.py --check    only checks that each guard occurs once in its file, as 'make lint' does
"""
import glob, json, os, re, shutil, signal, subprocess, sys, tempfile, threading

LIST = "Tests/Support/mutants/guards.txt"
TIMEOUT = 150  # seconds: a test that hangs has failed


def guards(path):
    found, block = [], None
    for line in open(path):
        if line.startswith("@ "):
            block = {"file": line[2:].strip(), "-": "", "+": ""}
            found.append(block)
        elif block and line[0] in "-+":
            block[line[0]] += line[1:]
    return found


def fault(guard):
    """Why a guard cannot be broken; None: it occurs once in its file, and breaking it changes the file."""
    if not os.path.exists(guard["file"]):
        return f"{guard['file']} does not exist"
    count = open(guard["file"]).read().count(guard["-"]) if guard["-"] else 0
    if count != 1:
        return f"the guard occurs {count} times in {guard['file']}: write the line as it is there, with lines around it"
    return "the guard and what replaces it are the same" if guard["-"] == guard["+"] else None


def title(number, guard, count):
    return f"{number}/{count} {os.path.basename(guard['file'])}: {guard['-'].partition(chr(10))[0].strip()}"


def check(all_guards):
    """Prints the guards that cannot be broken, and returns their number."""
    faults = [(number, guard, fault(guard)) for number, guard in enumerate(all_guards, 1) if fault(guard)]
    for number, guard, reason in faults:
        print(f"{LIST}: {title(number, guard, len(all_guards))}\n  {reason}")
    return len(faults)


def command(manifest, name):
    """The arguments of a command in SwiftPM's build manifest."""
    start = manifest.index(f'"C.{name}":')
    line = manifest.index("args: ", start)
    return json.loads(manifest[line + len("args: "):manifest.index("\n", line)])


def run(arguments, **options):
    return subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def build(guard, manifest, target, folder, program):
    """Compiles the module of a broken guard into the folder and links the tests with it; returns the error, or None."""
    module = guard["file"].split("/")[1]
    source, broken = os.path.abspath(guard["file"]), f"{folder}/{os.path.basename(guard['file'])}"
    if fault(guard):
        return fault(guard)
    text = open(source).read()
    open(broken, "w").write(text.replace(guard["-"], guard["+"]))
    arguments = command(manifest, f"{module}-{target}.module")
    objects = f"{os.path.dirname(program)}/{module}.build/"
    sources = next(a for a in arguments if a.startswith("@"))
    map_path = arguments[arguments.index("-output-file-map") + 1]
    files = json.loads(open(map_path).read().replace(objects, f"{folder}/").replace(f'"{source}"', f'"{broken}"'))
    json.dump(files, open(f"{folder}/map.json", "w"))
    names = open(sources[1:]).read().replace(source, broken)
    open(f"{folder}/sources", "w").write(names)
    arguments[arguments.index("-output-file-map") + 1] = f"{folder}/map.json"
    arguments[arguments.index("-emit-module-path") + 1] = f"{folder}/{module}.swiftmodule"
    arguments = [f"@{folder}/sources" if a == sources else a for a in arguments if a != "-parseable-output"]
    arguments[arguments.index("-O")] = "-Onone"
    compiled = run(arguments)
    if compiled.returncode:
        return "\n".join(line for line in compiled.stdout.splitlines() if "error:" in line) or compiled.stdout[-500:]
    link = command(manifest, f"take5PackageTests-{target}.test")
    list_path = next(a for a in link if a.startswith("@"))
    lines = [line for line in open(list_path[1:]) if f"/{module}.build/" not in line]
    lines += [f"{folder}/{name}\n" for name in sorted(os.listdir(folder)) if name.endswith(".o")]
    open(f"{folder}/objects", "w").writelines(lines)
    link[link.index("-o") + 1] = program
    linked = run([f"@{folder}/objects" if a == list_path else a for a in link])
    return linked.stdout[-500:] if linked.returncode else None


def failing_test(program, module):
    """Runs the tests until the first one fails, and returns it; None if all pass."""
    suites = {f"{module}Tests", "WorkerTests", "QueueTests"}
    for suite in sorted(suites, key=lambda name: (name != f"{module}Tests", name)):
        tests = subprocess.Popen(
            [program, "--testing-library", "swift-testing", "--filter", f"^{suite}\\."],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        timer = threading.Timer(TIMEOUT, lambda: os.killpg(tests.pid, signal.SIGKILL))
        timer.start()
        for line in tests.stdout:
            failure = re.search(r'✘.*Test "(.*?)" recorded an issue', line)
            if failure:
                os.killpg(tests.pid, signal.SIGKILL)
                timer.cancel()
                tests.wait()
                return f"{suite}: {failure.group(1)}"
        timer.cancel()
        if tests.wait() != 0:
            return f"{suite}: it ends with {tests.returncode}"
    return None


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
    all_guards = guards(LIST)
    if sys.argv[1:] == ["--check"]:
        sys.exit(1 if check(all_guards) else 0)
    scratch, wanted = sys.argv[1].rstrip("/"), {int(number) for number in sys.argv[2:]}
    manifest = open(f"{scratch}/release.yaml").read()
    target = re.search(r'"C\.Worker-(.*?)\.module":', manifest).group(1)
    products = os.path.realpath(f"{scratch}/release")
    program = f"{products}/mutant.xctest"
    undetected = 0
    for number, guard in enumerate(all_guards, 1):
        if wanted and number not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            failure = build(guard, manifest, target, folder, program)
        name = title(number, guard, len(all_guards))
        if failure:
            undetected += 1
            print(f"NOT BUILT {name}\n  {failure}", flush=True)
            continue
        databases = set(glob.glob("/dev/shm/take5-tests-*"))
        failed = failing_test(program, module=guard["file"].split("/")[1])
        # A test run that was killed leaves its databases in memory.
        for folder in set(glob.glob("/dev/shm/take5-tests-*")) - databases:
            shutil.rmtree(folder, ignore_errors=True)
        undetected += failed is None
        print(f"UNDETECTED {name}" if failed is None else f"found {name}\n  by: {failed}", flush=True)
    if os.path.exists(program):
        os.unlink(program)
    print(f"{undetected} of {len(all_guards)} guards are broken without a failing test")
    sys.exit(1 if undetected else 0)


main()
