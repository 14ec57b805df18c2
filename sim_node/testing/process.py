"""A controller that is a process, from its start to its end."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Thread
from typing import IO

from sim_node.errors import SimNodeError

START_S = 20.0  # until it sends
END_S = 5.0  # for it to end in order
LOOK_S = 0.005
LINES = 15  # of what it said that a message shows


class ControllerProcess:
    """A process that lives inside the block; what it prints goes to a file, ``log``.

    ``when_ended`` is called in a thread when it ends by itself, or with the block.
    Raises SimNodeError when it cannot be started.
    """

    def __init__(self, command: Sequence[str], log: Path, when_ended: Callable[[], None] = lambda: None) -> None:
        self._command, self.log, self._when_ended = list(command), log, when_ended

    def __enter__(self) -> ControllerProcess:
        self._written: IO[bytes] = self.log.open("wb")
        try:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=self._written, stderr=subprocess.STDOUT
            )
        except OSError as fault:
            self._written.close()
            raise SimNodeError(f"the controller {self._command[0]} cannot be started: {fault.strerror}") from fault
        self._watch = Thread(target=self._wait, name="sim_node controller")
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(END_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._watch.join()
        self._written.close()

    def _wait(self) -> None:
        self._process.wait()
        self._when_ended()

    def ended(self) -> str:
        """Say how it ended and what it said last; '' while it runs."""
        code = self._process.poll()
        if code is None:
            return ""
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return f"the controller {how}{self.said()}"

    def said(self) -> str:
        """Quote its last lines."""
        lines = self.log.read_text("utf-8", "replace").splitlines()[-LINES:]
        return "".join([", and said:" if lines else " and said nothing", *(f"\n    {line}" for line in lines)])

    def wait(self, missing: Callable[[], Sequence[str]]) -> None:
        """Wait until no input is missing, asked again and again.

        Raises SimNodeError when the process has ended, or has been silent for too long.
        """
        end = time.monotonic() + START_S
        while names := missing():
            if gone := self.ended():
                raise SimNodeError(gone)
            if time.monotonic() > end:
                inputs = ", ".join(f"'{name}'" for name in names)
                raise SimNodeError(
                    f"the controller sent nothing to {inputs} within {START_S:g} s{self.said()}\n"
                    "Does it open the ring that {ring} in its command line names? Inputs that it does not send to are "
                    "left out by answers=[…]."
                )
            time.sleep(LOOK_S)
