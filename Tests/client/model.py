"""Tests the model of the sample app against the service: model.py PATH-OF-take5 SWIFT FOLDER-OF-THE-BUILD"""

import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "clients"))

from service import SAMPLES, Service, free_ports


def main():
    take5, swift, scratch = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3]
    with tempfile.TemporaryDirectory(prefix="take5-model-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        [port] = free_ports(1)
        selfie = folder / "selfie.jpg"
        subprocess.run([take5, "still", SAMPLES / "front.mp4", "-o", selfie], check=True, stdout=subprocess.DEVNULL)
        with contextlib.closing(Service(take5, folder, port, "--accounts", "on")) as service:
            environment = {"TAKE5_URL": service.url, "TAKE5_SAMPLES": str(SAMPLES), "TAKE5_SELFIE": str(selfie)}
            subprocess.run(
                [swift, "test", "--package-path", HERE.parents[1] / "Examples" / "MomentApp", "--scratch-path", scratch,
                 "--disable-xctest", "-Xswiftc", "-warnings-as-errors"],
                check=True, env={**os.environ, **environment})


main()
