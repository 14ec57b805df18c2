"""The other processes of a bench: started, awaited until they are ready, and asked for their last line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

Child = subprocess.Popen[str]


def module(name: str, *arguments: object) -> list[str]:
    """Name the command that runs a module of ``cli/benches`` with these arguments."""
    return [sys.executable, "-m", f"sim_node.cli.benches.{name}", *map(str, arguments)]


@contextmanager
def started(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Iterator[Child]:
    """Start a process with pipes to and from it; leaving ends it, by force where it has not ended by itself."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as child:
        try:
            yield child
        finally:
            child.kill()


def until_ready(child: Child) -> None:
    """Wait until it prints ``ready``; RuntimeError when it ended before."""
    assert child.stdout is not None
    if child.stdout.readline().strip() != "ready":
        raise RuntimeError(f"{child.args!r} of the bench ended before it was ready; its error stands above")


def answer(child: Child) -> dict[str, Any]:
    """Wait for its end and read the JSON of its last line; empty where it printed none."""
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.close()
    lines = [line for line in child.stdout if line.strip()]  # not by communicate: it skips what was read ahead
    child.wait()
    said: dict[str, Any] = json.loads(lines[-1]) if lines else {}
    return said
