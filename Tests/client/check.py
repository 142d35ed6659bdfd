"""Checks the library without a service: the code for Apple's platforms, the examples in the document, and the public declarations.

check.py FOLDER-OF-THE-MODULES FOLDER-TO-WRITE-TO [--write]

`--write` writes the public declarations to api.txt, after a change that is wanted."""

import argparse
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCES = sorted((ROOT / "Sources" / "Take5Client").rglob("*.swift"))
VIEWS = sorted((ROOT / "Examples" / "MomentApp" / "Sources" / "MomentApp").rglob("*.swift"))
# The rules of the package, which a type-check without it does not know.
RULES = ["-swift-version", "6", "-warnings-as-errors"] + [
    word for name in ("ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault")
    for word in ("-enable-upcoming-feature", name)]
# What the examples of the document use, and do not define.
AROUND = """import Foundation
import Take5Client
func example(client: Take5Client, front: URL, back: URL, visibleMap: [Coordinate], post: Post, lastEvent: String?) async throws {
  %s
%s
}
"""


def swiftc(*arguments):
    result = subprocess.run(["swiftc", *map(str, arguments)], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"swiftc {' '.join(map(str, arguments))}\n{result.stdout}{result.stderr}")
    return result


def apple(folder):
    """Type-checks what only Apple's platforms compile."""
    for name in ("Darwin", "Security"):
        swiftc("-emit-module", "-parse-as-library", "-module-name", name, "-swift-version", "6", "-o", folder / f"{name}.swiftmodule",
               HERE / "apple" / f"{name}.swift")
    swiftc("-typecheck", "-module-name", "Take5Client", "-I", folder, *RULES, *SOURCES)
    swiftc("-frontend", "-parse", "-DSWIFTUI", *VIEWS)
    print(f"the code for Apple's platforms is type-checked, {len(VIEWS)} files of views are parsed")


def examples(modules, folder):
    """Type-checks the Swift code of documents, and parses what needs a framework of Apple's."""
    texts = [(ROOT / "docs" / name).read_text() for name in ("swift-client.md", "first-app.md")]
    blocks = [block for text in texts for block in re.findall(r"^```swift\n(.*?)^```$", text, re.M | re.S)]
    assert len(blocks) > 8, f"{len(blocks)} examples"
    for number, block in enumerate(blocks):
        path = folder / f"example{number}.swift"
        if re.search(r"^import (SwiftUI|UIKit|PackageDescription)$", block, re.M):
            path.write_text(block)
            swiftc("-frontend", "-parse", path)
        else:
            shadows = "var lastEvent = lastEvent" if "lastEvent = " in block else ""
            path.write_text(AROUND % (shadows, block))
            # The compiler checks more when it generates code.
            swiftc("-emit-sil", "-o", "/dev/null", "-parse-as-library", "-swift-version", "6", "-I", modules, path)
    print(f"{len(blocks)} examples of documents are checked")


def declarations(modules, folder):
    """The public declarations, a line for each, sorted."""
    target = json.loads(subprocess.run(["swiftc", "-print-target-info"], capture_output=True, check=True).stdout)
    subprocess.run(
        ["swift-symbolgraph-extract", "-module-name", "Take5Client", "-I", str(modules), "-output-dir", str(folder),
         "-target", target["target"]["unversionedTriple"], "-minimum-access-level", "public", "-skip-synthesized-members"],
        check=True, stdout=subprocess.DEVNULL)
    lines = set()
    for path in folder.glob("Take5Client*.symbols.json"):
        for symbol in json.loads(path.read_text())["symbols"]:
            text = "".join(part["spelling"] for part in symbol["declarationFragments"])
            lines.add(f"{'.'.join(symbol['pathComponents'])}: {' '.join(text.split())}")
    return sorted(lines)


def api(modules, folder, writes):
    """Compares the public declarations with those of api.txt."""
    path, lines = HERE / "api.txt", declarations(modules, folder)
    if writes:
        path.write_text("\n".join(lines) + "\n")
    stored = path.read_text().splitlines() if path.exists() else []
    changes = [f"- {line}" for line in stored if line not in lines] + [f"+ {line}" for line in lines if line not in stored]
    if changes:
        sys.exit("\n".join(["The public declarations have changed; make test-client WRITE=1 accepts that:", *changes]))
    print(f"{len(lines)} public declarations are those of api.txt")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("modules", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    for name in ("apple", "examples", "graph"):
        (options.folder / name).mkdir(parents=True, exist_ok=True)
    apple(options.folder / "apple")
    examples(options.modules, options.folder / "examples")
    api(options.modules, options.folder / "graph", options.write)


main()
