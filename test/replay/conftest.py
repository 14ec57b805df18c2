"""A stepper of a few lines of numpy, so that replay's logic is tested without compiler and plant."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sim_node import dtypes
from sim_node.errors import KernelError
from sim_node.layout import Layout
from sim_node.plant import Keyframe, Records, Replayed
from sim_node.replay import messages
from sim_node.replay.bag import Bag
from sim_node.replay.hashes import field_hashes
from sim_node.replay.record import record_offline
from sim_node.replay.track import check_layouts
from sim_node.replay.writer import BagWriter


class Spring:
    """Three masses: position and velocity, pulled by a force; ``gain`` is its parameter."""

    dt_ns = 1_000_000
    plan_digest = "d" * 64
    state_layout = Layout.of([("x", dtypes.float32, (3,), "m"), ("v", dtypes.vec3, (3,), "m/s")])
    input_layout = Layout.of([("force", dtypes.float32, (3,), "N"), ("brake", dtypes.float64, (), "")])

    def __init__(self, gain: float = 1.0, seed: int = 0, stop_at: int = -1):
        self.gain, self.seed, self.stop_at = np.float32(gain), seed, stop_at
        self.reset()

    def reset(self):
        self.load(0, bytes(self.state_layout.size), bytes(self.input_layout.size))
        self.field("x")[:] = np.random.default_rng(self.seed).random(3)

    def load(self, step, state, inputs):
        self.step, self.state, self.inputs = step, bytearray(state), bytearray(inputs)
        self.rows = []

    def restore(self, keyframe):
        self.load(keyframe.step, keyframe.state, keyframe.inputs)

    def field(self, name):
        return self.state_layout[name].view(self.state)

    def set(self, name, value):
        self.input_layout[name].view(self.inputs)[...] = value

    def tick(self, count=1):
        x, v = self.field("x"), self.field("v")
        force, brake = (self.input_layout[name].view(self.inputs) for name in ("force", "brake"))
        for _ in range(count):
            if self.step + 1 == self.stop_at:
                raise KernelError("index 3 is out of bounds", None, "spring", 0)
            v[:] += np.float32(1e-3) * (self.gain * force[:, None] - x[:, None] - v * np.float32(brake))
            x[:] += np.float32(1e-3) * v[:, 0]
            self.step += 1
            self.rows.append((self.step, self.hashes(), bytes(self.inputs)))

    def replay(self, inputs):
        for row in inputs:
            self.inputs[:] = row.tobytes()
            try:
                self.tick()
            except KernelError as fault:
                return Replayed(self.drain().hashes, {}, fault)
        return Replayed(self.drain().hashes, {}, None)

    def hashes(self):
        fields = enumerate(self.state_layout)
        bytes_of = ((i, np.frombuffer(self.state, np.uint8, f.nbytes, f.offset)[None]) for i, f in fields)
        return np.array([field_hashes(row, i)[0] for i, row in bytes_of], np.uint64)

    def drain(self):
        rows, self.rows = self.rows, []
        hashes = np.array([row[1] for row in rows], np.uint64).reshape(len(rows), 2)
        inputs = np.frombuffer(b"".join(row[2] for row in rows), np.uint8).reshape(len(rows), self.input_layout.size)
        return Records(rows[0][0] if rows else 0, len(rows), hashes, inputs, np.zeros(len(rows), np.uint64), 0)

    def keyframe(self, **changed):
        about = {
            "step": self.step, "plant": "test:Spring", "parameters": f'{{"gain": {self.gain}}}', "seed": self.seed,
            "layout": self.state_layout, "input_layout": self.input_layout, "plan_digest": self.plan_digest,
            "dt_ns": self.dt_ns, "substeps": 1, "target": "host", "versions": "{}", "reproducible": True,
            "state": bytes(self.state), "inputs": bytes(self.inputs),
        }  # fmt: skip
        return Keyframe(**{**about, **changed})


@pytest.fixture
def spring():
    return Spring


@pytest.fixture
def build():
    """Build what a keyframe of a Spring describes."""

    def make(keyframe, plant):
        check_layouts(keyframe, Spring.state_layout, Spring.input_layout)
        return Spring(json.loads(keyframe.parameters)["gain"], keyframe.seed)

    return make


@pytest.fixture
def recording(tmp_path):
    """Record a Spring offline: 600 ticks, a keyframe each 200, a force that changes each tick."""

    def make(path="run.mcap", storage="mcap", spring=None, name="spring", **options):
        spring = spring or Spring()
        force = np.random.default_rng(1).random((600, 3)).astype(np.float32)
        settings = {"ticks": 600, "keyframe_every": 200, "inputs": {"force": force, "brake": 0.5}, **options}
        with BagWriter(tmp_path / path, storage, force=True) as writer:
            record_offline(spring, writer, name=name, **settings)
        return tmp_path / path

    return make


@pytest.fixture
def rewrite(tmp_path):
    """Copy a bag, passing each message to ``change(name, message)``; what it returns is written, None is dropped."""

    def make(bag, change, path="changed.mcap"):
        with BagWriter(tmp_path / path, force=True) as writer:
            for entry in Bag(bag):
                message = messages.deserialise(entry.raw, entry.type)
                for name, value in vars(message).items():
                    if isinstance(value, np.ndarray):
                        setattr(message, name, value.copy())
                message = change(entry.type.rsplit("/", 1)[1], message)
                if message is not None:
                    raw = messages.serialise(message, entry.type)
                    writer.write(entry.topic, entry.type, entry.stamp_ns, raw)
        return tmp_path / path

    return make
