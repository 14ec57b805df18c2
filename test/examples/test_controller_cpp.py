"""examples/controller.cpp, built by its CMakeLists: it closes the loop at 1 kHz, outlives the node, and bags tell."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest
from built import examples

from sim_node import dtypes
from sim_node.bridge import Publisher, Subscriber
from sim_node.bridge.transports import posix_shm
from sim_node.kernels.quarter_car import QuarterCar
from sim_node.layout import Layout
from sim_node.plant import Stepper
from sim_node.replay import messages
from sim_node.replay.history import of_bag
from sim_node.replay.verify import verify
from sim_node.replay.writer import BagWriter

ROOT = Path(__file__).resolve().parents[2]
PLANT = "sim_node.kernels.quarter_car:QuarterCar"
LIMIT = 60.0  # seconds after which what is awaited will not come
PERIOD_NS = 1_000_000


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = examples(tmp_path_factory.mktemp("examples") / "build", f"-DCMAKE_PREFIX_PATH={ROOT / 'include'}")
    return folder / "controller_cpp"


@pytest.fixture
def start(program):
    """Start the controller; it does not outlive the test."""
    with ExitStack() as stack:

        def make(*words):
            pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
            child = stack.enter_context(subprocess.Popen([program, *words], **pipes))
            stack.callback(child.kill)
            return child

        yield make


@contextmanager
def closing(child):
    """Interrupt the controller at the end; it must end in order."""
    yield
    child.send_signal(signal.SIGINT)
    assert child.wait(LIMIT) == 0


def answer(ring, child, ticks):
    """Wait until the controller has taken so many ticks of the generation that is there."""
    pid, end = child.pid, time.monotonic() + LIMIT
    with Subscriber(ring, timeout=LIMIT) as watch:
        reader = watch._segment.ring
        while not any(taken >= ticks for each, *_, taken, _, _, _ in reader.readers() if each == pid):
            watch.next(LIMIT).release()
            assert time.monotonic() < end, f"{ticks} ticks were not answered"


def applied(bag):
    """Return for each command in the bag's first generation the tick that applied it and the tick that it answers."""
    told = of_bag(bag, ["body_velocity", "force"]).values
    velocity = np.concatenate([np.zeros((1, 4), np.float32), told["body_velocity"]])  # at step 0 the car rests
    commands, force = np.float32(-3000.0) * velocity, told["force"]
    changed = np.flatnonzero((force[1:].view(np.uint32) != force[:-1].view(np.uint32)).any(axis=1)) + 1
    pairs, answered = [], -1
    for row in changed:
        same = np.flatnonzero((commands.view(np.uint32) == force[row].view(np.uint32)).all(axis=1))
        answered = int(same[same > answered][0])  # each command answers a later tick than the one before
        pairs.append((int(row) + 1, answered))
    return pairs


def check(bag):
    """Check that the bag replays, and that each command answers an earlier tick than the one that applied it."""
    report = verify(bag)
    assert report.verified > 100
    assert report.diverged == 0
    pairs = applied(bag)
    assert len(pairs) > 100
    assert all(answered < tick for tick, answered in pairs)
    return pairs


class Rig:
    """A stepper with the native loop at 1 kHz in a thread of its own, recorded into a bag"""

    def __init__(self, name, bag):
        plant = QuarterCar(lead=0.0)
        self.publisher = Publisher(plant.layout, plant.input_layout, name)
        self.stepper = Stepper(plant, dt_ns=PERIOD_NS, ring=self.publisher.ring)
        self.bag = bag
        self.thread = threading.Thread(target=self.stepper.run, args=(PERIOD_NS,))

    def __enter__(self):
        self.writer = BagWriter(self.bag)
        message = messages.keyframe_message(self.stepper.keyframe(), self.publisher.generation)
        self.writer.write("/car/keyframe", messages.KEYFRAME, 0, messages.serialise(message, messages.KEYFRAME))
        self.stepper.tick(50)  # the car drives onto the bump: from there on no two ticks have the same velocities
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stepper.stop()
        self.thread.join()
        while (records := self.stepper.drain()).count:
            message = messages.record_message(records, self.publisher.generation)
            stamp = (records.first_step + records.count - 1) * PERIOD_NS
            self.writer.write("/car/record", messages.RECORD, stamp, messages.serialise(message, messages.RECORD))
        assert records.lost == 0
        self.writer.close()
        self.publisher.close()


@pytest.mark.parametrize("spin_us", ["0", "200"])
def test_its_commands_are_applied_after_the_ticks_that_they_answer(start, spin_us, tmp_path):
    name, bag = f"/rig/cpp_{os.getpid()}", tmp_path / "loop.mcap"
    with Rig(name, bag) as rig:
        child = start(name, spin_us)
        with closing(child):
            answer(name, child, 200)
        assert rig.publisher.ring.readers() == []  # lease, mailbox and place are free again
    pairs = check(bag)
    delay = rig.stepper.statistics()["delay_ticks"]
    assert delay.count == len(pairs)
    assert round(delay.mean * delay.count) == sum(tick - answered for tick, answered in pairs)
    (said,) = re.findall(r"generation \d+: (\d+) ticks answered, \d+ missed\n$", child.stdout.read())
    assert int(said) >= 200


def test_it_goes_on_with_the_ring_that_a_restarted_node_makes(start, tmp_path):
    name = f"/rig/cpp_{os.getpid()}"
    child = start(name)
    assert "there is no segment of that name; waiting" in child.stderr.readline()
    generations = []
    with closing(child):
        for life in range(2):
            with Rig(name, tmp_path / f"{life}.mcap") as rig:
                generations.append(rig.publisher.generation)
                answer(name, child, 200)
            check(tmp_path / f"{life}.mcap")
    said = child.stdout.read()
    for generation in generations:
        assert f"generation {generation}: ready\n" in said
    assert len(re.findall("ticks answered", said)) == 2


def test_a_node_killed_and_started_again_is_answered_on(start, ros_domain, cache, tmp_path):
    """The node's kill -9 closes nothing; each life is recorded and proved by itself."""
    pytest.importorskip("rclpy", reason="installed without ROS")
    pytest.importorskip("sim_node.msg", reason="installed without ROS")
    name = f"/cpp_{os.getpid()}"
    child = start(name)
    with ExitStack() as stack:

        def sim_node(*words, **options):
            command = [sys.executable, "-m", "sim_node.cli", *words]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, text=True, **options)
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        with closing(child):
            for life in ("killed", "stopped"):
                bag = str(tmp_path / f"{life}.mcap")
                recorder = sim_node("record", "--node", name, "--bag", bag, stderr=subprocess.PIPE)
                node = sim_node("run", PLANT, "--name", name, "--rate", "1000", "--param", "lead=0.0")
                assert any(f"receiving {name}/record" in line for line in recorder.stderr)
                answer(name, child, 1000)
                node.send_signal(signal.SIGKILL if life == "killed" else signal.SIGINT)
                assert node.wait(LIMIT) == (-signal.SIGKILL if life == "killed" else 0)
                recorder.send_signal(signal.SIGINT)
                assert recorder.wait(LIMIT) == 0
                check(tmp_path / f"{life}.mcap")
    assert len(set(re.findall(r"generation (\d+): \d+ ticks answered", child.stdout.read()))) == 2


def test_it_says_what_it_waits_for(start):
    name = f"cpp_{os.getpid()}"
    velocity, force = ("body_velocity", dtypes.float32, (4,), "m/s"), ("force", dtypes.float32, (4,), "N")
    for states, inputs, message in (
        ([velocity], [("push", dtypes.float32, (4,), "N")], "there is no input of that name"),
        ([("speed", dtypes.float32, (4,), "m/s")], [force], "there is no published field of that name"),
        ([("body_velocity", dtypes.float64, (4,), "m/s")], [force], "the field is of another dtype"),
    ):
        with Publisher(Layout.of(states), Layout.of(inputs), name):
            child = start(name)
            assert child.stderr.readline() == f"controller: {name}: {message}; waiting\n"
            with closing(child):
                pass
    with Publisher(Layout.of([velocity]), Layout.of([force]), name) as publisher, Subscriber(publisher) as other:
        other.claim("force", exclusive=True)
        child = start(name)
        assert "the input is for one writer, and has another" in child.stderr.readline()
        with closing(child):
            pass


def test_a_ring_of_another_version_is_left_as_it_is(start):
    name = f"cpp_{os.getpid()}"
    velocity, force = ("body_velocity", dtypes.float32, (4,), "m/s"), ("force", dtypes.float32, (4,), "N")
    with Publisher(Layout.of([velocity]), Layout.of([force]), name):
        path = posix_shm.path_of(name)
        with path.open("r+b") as file:
            file.seek(8)
            file.write((99).to_bytes(4, sys.byteorder))
        before = path.read_bytes()
        child = start(name)
        assert "it is of another version of the protocol; waiting" in child.stderr.readline()
        with closing(child):
            pass
        assert path.read_bytes() == before


def test_it_refuses_other_arguments(start):
    child = start()
    assert child.wait(LIMIT) == 2
    assert child.stderr.read().startswith("usage: ")
