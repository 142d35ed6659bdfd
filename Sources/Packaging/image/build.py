#!/usr/bin/env python3
"""Builds a container image of Debian packages, without a daemon; as root, or as a user with subordinate ids (subuid(5)).

  build.py FOLDER OUTPUT [PACKAGE.deb] [--lock FILE] [--mirror URL]

FOLDER describes the image: `packages`, one on a line; `config.json`, what its containers run; `setup.sh`, which gets the finished
root. The image gets PACKAGE.deb too, with what it depends on. OUTPUT gets NAME.tar, which 'podman load' and 'docker load' read, and
NAME.packages, the versions of all packages of Debian in it. With this file as --lock, the same FOLDER and PACKAGE.deb give the
same bytes. The packages are those of the sources of this machine; --mirror names one with the archives debian and debian-security, such as
one that still has the versions of a lock.

Why not a Dockerfile, and why Docker's format: docs/decisions/0057-image.md.
"""

import argparse
import io
import json
import os
import platform
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from archive import Layer, write_archive

# The release of Debian in the image: that of this machine, for which the package is built.
SUITE = platform.freedesktop_os_release()["VERSION_CODENAME"]
# What no program reads. The licences stay, and so do the examples of take5.
EXCLUDED = ["/usr/share/man/*", "/usr/share/info/*", "/usr/share/locale/*", "/usr/share/lintian/*", "/usr/share/doc/*"]
INCLUDED = ["/usr/share/doc/*/copyright", "/usr/share/doc/take5/*"]
# The time of a file that no package dates: the first release of Debian 12, in every image.
EPOCH = 1686355200


def output(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, **options).stdout


def package_files(package):
    """The files of a package, and the time of the newest one."""
    with tarfile.open(fileobj=io.BytesIO(output("dpkg-deb", "--fsys-tarfile", package))) as tar:
        members = tar.getmembers()
    return {member.name.removeprefix("./") for member in members if not member.isdir()}, max(int(member.mtime) for member in members)


def sources(mirror):
    """Lines of sources.list(5), or files of them."""
    if mirror:
        archives = [("debian", ""), ("debian", "-updates"), ("debian-security", "-security")]
        return [f"deb {mirror}/{archive} {SUITE}{suffix} main" for archive, suffix in archives]
    apt = Path("/etc/apt")
    files = [apt / "sources.list", *sorted(apt.glob("sources.list.d/*.list")), *sorted(apt.glob("sources.list.d/*.sources"))]
    return [str(file) for file in files if file.exists() and file.stat().st_size > 0]


def pins(lock):
    """The versions of a lock, as apt_preferences(5) names them."""
    return "".join(f"Package: {name}\nPin: version {version}\nPin-Priority: 1001\n\n" for name, version in lock.items())


def read_lock(path):
    return dict(line.split() for line in Path(path).read_text().splitlines())


def make_root(folder, package, lock, mirror, work, epoch):
    """Installs the packages in a new root, and returns it as a tar archive, with the lock of what was installed."""
    packages = (folder / "packages").read_text().split()
    lines = sources(mirror)
    if package:
        repository = work / "repository"
        repository.mkdir()
        (repository / package.name).write_bytes(package.read_bytes())
        index = output("dpkg-scanpackages", ".", cwd=repository, stderr=subprocess.DEVNULL)
        (repository / "Packages").write_bytes(index)
        lines.append(f"deb [trusted=yes] copy:{repository} ./")
        packages.append(output("dpkg-deb", "--field", package, "Package", text=True).strip())
    (work / "pins").write_text(pins(lock))
    work.chmod(0o755)
    root = work / "root.tar"
    installed = work / "installed"
    options = ["--variant=essential", "--format=tar", "--dpkgopt=force-unsafe-io", f"--include={','.join(packages)}"]
    options.append("--aptopt=APT::Install-Recommends false")
    if mirror:
        options.append("--aptopt=Acquire::Check-Valid-Until false")
    options += [f"--dpkgopt=path-exclude={path}" for path in EXCLUDED]
    options += [f"--dpkgopt=path-include={path}" for path in INCLUDED]
    if lock:
        options.append(f"--setup-hook=mkdir -p $1/etc/apt/preferences.d && cp {work}/pins $1/etc/apt/preferences.d/lock")
    # Users have the same numbers in every version of the image: volumes outlive it.
    options.append("--essential-hook=cat " + str(folder / "users") + " | while read -r name id home; do "
                   'echo "$name:x:$id:$id::$home:/usr/sbin/nologin" >>$1/etc/passwd; echo "$name:x:$id:" >>$1/etc/group; done')
    options.append(f"--customize-hook=dpkg-query --admindir=$1/var/lib/dpkg --show "
                   f"--showformat='${{Package}} ${{Version}}\\n' >{installed}")
    options.append(f"--customize-hook={folder}/setup.sh $1")
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch), "LC_ALL": "C.UTF-8"}
    if subprocess.run(["mmdebstrap", *options, SUITE, str(root), *lines], env=environment).returncode != 0:
        sys.exit("build.py: mmdebstrap failed: its reasons are above")
    return root, read_lock(installed)


def check_lock(lock, installed):
    names = sorted(lock.keys() | installed.keys())
    differences = [f"{name}: {lock.get(name, 'none')} in the lock, {installed.get(name, 'none')} in Debian"
                   for name in names if lock.get(name) != installed.get(name)]
    if differences:
        sys.exit("build.py: Debian does not have the packages of the lock:\n  " + "\n  ".join(differences)
                 + "\n  Build without --lock for the present versions, or name a --mirror that has the others.")


def layers(root, own):
    """Two layers: the packages of Debian, and what an upgrade of take5 replaces."""
    with Layer() as base, Layer() as top, tarfile.open(root) as tar:
        for member in tar:
            name = member.name.removeprefix("./").rstrip("/")
            # The runtime mounts /dev; a user without root could not make its devices.
            if name.startswith("dev/"):
                continue
            layer = top if name in own or name.startswith("var/lib/dpkg/") else base
            layer.add(member, tar.extractfile(member) if member.isreg() else None)
    return [base, top]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("package", type=Path, nargs="?")
    parser.add_argument("--lock", type=Path)
    parser.add_argument("--mirror")
    arguments = parser.parse_args()
    folder, package = arguments.folder.resolve(), arguments.package
    own, epoch = package_files(package) if package else (set(), EPOCH)
    lock = read_lock(arguments.lock) if arguments.lock else {}
    description = json.loads((folder / "config.json").read_text())
    name, architecture = folder.name, output("dpkg", "--print-architecture", text=True).strip()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as temporary:
        root, installed = make_root(folder, package, lock, arguments.mirror, Path(temporary), epoch)
        version = installed.pop(name, "12")
        if lock:
            check_lock(lock, installed)
        description["Labels"]["org.opencontainers.image.version"] = version
        arguments.output.mkdir(parents=True, exist_ok=True)
        stem = f"{name}_{version}_{architecture}"
        archive = arguments.output / f"{stem}.tar"
        digest, size = write_archive(archive, [f"{name}:{version.replace('~', '-')}", f"{name}:latest"], architecture, epoch, description, layers(root, own))
    (arguments.output / f"{stem}.packages").write_text("".join(f"{key} {value}\n" for key, value in sorted(installed.items())))
    print(f"{archive}\n{digest}\n{size // 1_000_000} MB compressed, {len(installed)} packages of Debian")


if __name__ == "__main__":
    main()
