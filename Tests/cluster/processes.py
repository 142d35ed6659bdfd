"""Processes that are started again when they end, as systemd does it with Restart=always."""

import pathlib
import signal
import sys
import threading
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Support" / "processes"))

from machines import descendants, signal_all  # noqa: E402
from take5 import Program  # noqa: E402


class Service(Program):
    """A program on a machine. Its output is a file in the folder of logs."""

    # As RestartSec= of the units.
    PAUSE = 1
    # At the end of the run nothing is started again.
    is_over = False

    def __init__(self, name, machine, logs, arguments, environment=None):
        self.name, self.machine, self.is_wanted, self.starts = name, machine, True, 0
        # Held while the process is started, and while it is ended for good.
        self.lock = threading.RLock()
        super().__init__(machine.inside(*arguments), logs / f"{name}.log", environment)
        threading.Thread(target=self.supervise, daemon=True).start()

    def start(self):
        with self.lock:
            super().start()
            self.starts += 1

    def supervise(self):
        while True:
            process = self.process
            process.wait()
            time.sleep(self.PAUSE)
            with self.lock:
                if self.is_wanted and self.process is process and not Service.is_over:
                    self.start()
            if Service.is_over:
                return
            while not self.is_wanted and not Service.is_over:
                time.sleep(0.1)

    def processes(self):
        """The process and those that it has started, with their names."""
        return {self.process.pid: "", **descendants(self.process.pid)}

    def kill(self):
        """Kills the process and all that it has started, as the loss of its machine does."""
        signal_all(self.processes(), signal.SIGKILL)
        self.process.wait()

    def end(self):
        """Kills the process, which is not started again."""
        with self.lock:
            self.is_wanted = False
            self.kill()

    def halt(self):
        """Ends it as `systemctl stop` does."""
        with self.lock:
            self.is_wanted = False
            self.stop()

    def resume(self):
        with self.lock:
            self.start()
            self.is_wanted = True
