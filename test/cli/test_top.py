"""``sim-node top`` on a terminal of its own, and its snapshot."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from sim_node import dtypes
from sim_node.bridge import Publisher, Subscriber
from sim_node.layout import Layout

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 60.0
LAYOUT = Layout.of([("x", dtypes.float32, (3,), "m")])
INPUTS = Layout.of([("force", dtypes.float32, (), "N")])


class Terminal:
    """A command on a pseudo-terminal: what it has drawn, and keys for it."""

    def __init__(self, *arguments):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"}
        for name in ("COLUMNS", "LINES"):  # of whoever runs the tests; the terminal has its own
            environment.pop(name, None)
        command = [sys.executable, "-m", "sim_node.cli", "top", "--interval", "0.1", *arguments]
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True
        )
        self.before = termios.tcgetattr(slave)
        self.slave, self.drawn = slave, ""

    def until(self, *words, do=lambda: None):
        """Read until the words have been drawn since the last key."""
        end = time.monotonic() + LIMIT
        while not all(re.search(word, self.drawn) for word in words):
            assert time.monotonic() < end, self.drawn[-3000:]
            do()
            if select.select([self.master], [], [], 0.02)[0]:
                self.drawn += os.read(self.master, 65536).decode("utf-8", "replace")

    def press(self, key):
        self.drawn = ""
        os.write(self.master, key.encode())

    def end(self):
        """Wait for its end, reading on: what nobody reads it cannot write."""
        while self.process.poll() is None:
            if select.select([self.master], [], [], 0.02)[0]:
                os.read(self.master, 65536)
        return self.process.returncode


@contextmanager
def terminal(*arguments):
    made = Terminal(*arguments)
    try:
        yield made
    finally:
        made.process.kill()
        made.process.wait()
        os.close(made.master)
        os.close(made.slave)


def test_a_ring_without_ros_on_a_terminal():
    name = f"top_{os.getpid()}"
    with Publisher(LAYOUT, INPUTS, name) as publisher, Subscriber(name, writer="steering") as reader:
        steps = iter(range(1, 10**9))

        def tick():
            step = next(steps)
            publisher.next().commit(step, step * 1_000_000)

        tick()
        held = reader.next()
        reader.send("force", 1.0)
        with terminal(name, "--no-ros") as top:
            top.until(name, "alive", str(os.getpid()), "steering", "readers", "q quit", r"\d+ +8? *\d", do=tick)
            top.press("p")
            top.until("nothing to pause, step or reset by", do=tick)
            top.press("n")
            top.press("q")
            assert top.end() == 0
            assert termios.tcgetattr(top.slave) == top.before
        held.release()


def test_the_snapshot(sim_node):
    name = f"top_{os.getpid()}"
    with Publisher(LAYOUT, INPUTS, name) as publisher:
        publisher.next().commit(1, 1_000_000)
        said = sim_node("top", name, "--no-ros", "--interval", 0.05, "--json")
        assert said.code == 0
        (plant,) = said.object["plants"]
        told = {key: plant[key] for key in ("name", "step", "state", "rate_hz", "histograms", "real_time_factor")}
        assert told == {
            "name": name, "step": 1, "state": "alive", "rate_hz": 0.0, "histograms": {}, "real_time_factor": None,
        }  # fmt: skip
        assert said.object["ros"] is False
    said = sim_node("top", "no_such_ring", "--no-ros", "--json")
    assert (said.code, "there is no ring 'no_such_ring'" in said.object["error"]) == (2, True)


def test_without_a_terminal_it_says_so(sim_node):
    said = sim_node("top", "--no-ros")
    assert (said.code, "this is none; --json prints one snapshot" in said.err) == (2, True)


def test_a_node_is_paused_stepped_and_reset_by_keys(ros_domain, cache):
    pytest.importorskip("rclpy", reason="installed without ROS")
    from sim_node.node.process import running

    name = f"top_{os.getpid()}"
    with running({name: {"plant": "quarter_car", "diagnostics_period": 0.1}}) as (node,):
        with terminal(f"/{name}", "--ticks", "7") as top:
            top.until("native", "running", "lateness", "misses", "▶")
            top.press("p")
            top.until("pause: paused at step", " paused ")
            step = node.assembly.stepper.step
            top.press("s")
            top.until(f"step: at step {step + 7}")
            top.press("r")
            top.until("reset: at step 0 of generation")
            top.until(" paused ")
            top.press("p")
            top.until("resume: running", " running ")
            top.press("q")
            assert top.end() == 0
        assert node.assembly.stepper.step > 0
