"""``sim-node top``: the plants on this host, live, in a terminal."""

from __future__ import annotations

import os
import select
import sys
import termios
import time
import tty
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from sim_node.cli.gauges import Gauges, node_of
from sim_node.cli.output import Outcome
from sim_node.cli.screen import draw
from sim_node.errors import SimNodeError

if TYPE_CHECKING:
    from sim_node.node.remote import Remote

STATS_S = 3.0  # for a node's statistics: it tells them once a second, to those whom it knows
ACTS = {"p": "pause", "s": "step", "r": "reset"}
NO_ROS = "ROS is not used: nothing to pause, step or reset by"


def command(
    name: Annotated[str, typer.Argument(help="Name of a node, such as /plant; default: all on this host.")] = "",
    interval: Annotated[float, typer.Option(min=0.05, max=60.0, help="Seconds between looks.")] = 0.5,
    ros: Annotated[bool, typer.Option("--ros/--no-ros", help="Ask the node by ROS, too, where there is ROS.")] = True,
    ticks: Annotated[int, typer.Option(min=1, help="Ticks of a step.")] = 1,
    json: bool = False,
) -> Outcome:
    """Watch plants: rate, real-time factor, histograms, readers, leases, misses; keys pause, step and reset."""
    from sim_node.bridge.name import ring_name

    wanted = ring_name(name) if name else ""
    with ExitStack() as stack:
        remote = _remote(stack) if ros else None
        if json:
            return _snapshot(wanted, interval, remote)
        if not sys.stdin.isatty() or not sys.stdout.isatty():
            raise SimNodeError("top draws on a terminal, and this is none; --json prints one snapshot")
        _watch(wanted, interval, remote, ticks)
    return Outcome({})


def _remote(stack: ExitStack) -> Remote | None:
    """Join ROS where it is."""
    try:
        from sim_node.node.remote import Remote
    except ImportError:
        return None
    return stack.enter_context(Remote())


def _snapshot(wanted: str, interval: float, remote: Remote | None) -> Outcome:
    """Look twice, and wait for what the node of the first plant tells by ROS."""
    gauges = Gauges()
    found = gauges.look(wanted)
    if wanted and not found:
        raise SimNodeError(
            f"there is no ring '{wanted}' of this user on this host; 'sim-node inspect rings' lists them"
        )
    end = time.monotonic() + interval
    if remote is not None and found:
        remote.follow(node_of(found[0].ring.name))
        while not _told(remote) and time.monotonic() < end + STATS_S:
            time.sleep(0.01)
    time.sleep(max(end - time.monotonic(), 0.0))
    return Outcome({"plants": [each.result() for each in gauges.look(wanted, remote)], "ros": remote is not None})


def _told(remote: Remote) -> bool:
    """Tell whether the node's statistics are there; the first of a running plant know no real-time factor."""
    stats = remote.stats
    return stats is not None and (stats.state != "running" or stats.real_time_factor > 0.0)


def _watch(wanted: str, interval: float, remote: Remote | None, ticks: int) -> None:
    """Draw until the key q, Ctrl-C, or the end of the terminal."""
    from rich.live import Live

    gauges, chosen, told = Gauges(), 0, "" if remote is not None else NO_ROS
    with _keys(), Live(screen=True, auto_refresh=False) as live:
        while True:
            found = gauges.look(wanted, remote)
            chosen = min(chosen, max(len(found) - 1, 0))
            if remote is not None and found:
                remote.follow(node_of(found[chosen].ring.name))
            live.update(draw(found, chosen, told), refresh=True)
            key = _key(interval)
            if key in ("q", "\x03", "\x04"):
                return
            if key == "n":
                chosen = (chosen + 1) % max(len(found), 1)
            elif key in ACTS and found:
                told = _act(ACTS[key], found[chosen].state, remote, ticks)


def _act(what: str, state: str, remote: Remote | None, ticks: int) -> str:
    if remote is None:
        return NO_ROS
    if what == "pause" and state == "paused":
        what = "resume"
    return f"{what}: {remote.ask(what, **({'ticks': ticks} if what == 'step' else {}))}"


@contextmanager
def _keys() -> Iterator[None]:
    """Have each key at once, and give the terminal back as it was."""
    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin)
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _key(seconds: float) -> str:
    """Wait for a key; '' when there was none, and q where the terminal is gone."""
    ready, _, _ = select.select([sys.stdin], [], [], seconds)
    return (os.read(sys.stdin.fileno(), 1).decode("ascii", "replace") or "q") if ready else ""
