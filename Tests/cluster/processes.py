"""Processes that are started again when they end, as systemd does it with Restart=always."""

import os
import signal
import subprocess
import threading
import time

from machines import descendants, signal_all


class Service:
    """A program on a machine. Its output is a file in the folder of logs."""

    # As RestartSec= of the units.
    PAUSE = 1
    # At the end of the run nothing is started again.
    is_over = False

    def __init__(self, name, machine, logs, arguments, environment=None):
        self.name, self.machine, self.arguments = name, machine, machine.inside(*arguments)
        self.environment = {**os.environ, **(environment or {})}
        self.log = (logs / f"{name}.log").open("ab")
        self.is_wanted, self.starts, self.process = True, 0, None
        # Held while the process is started, and while it is ended for good.
        self.lock = threading.RLock()
        self.start()
        threading.Thread(target=self.supervise, daemon=True).start()

    def start(self):
        with self.lock:
            self.process = subprocess.Popen(
                self.arguments, env=self.environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                start_new_session=True)
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
            while not self.is_wanted:
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

    def resume(self):
        with self.lock:
            self.start()
            self.is_wanted = True
