"""A plant that a test drives as a ROS 2 node: what is controlled is what ``ros2 launch`` starts."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import Any

import numpy as np

from sim_node.errors import SimNodeError
from sim_node.node.process import hosted, parameters_of, spin_until, spinning
from sim_node.node.recorder import RECORDER, recording
from sim_node.plant import Plant, reference_of
from sim_node.replay import messages
from sim_node.replay.bag import Bag
from sim_node.replay.writer import BagWriter
from sim_node.testing.drive import Drive, own_name

ROOM = 256  # ticks at once: the node takes records some 20 times a second, and no record may be lost
START_S = 20.0  # for discovery
ARRIVAL_S = 10.0  # for what is on its way to a recorder
LOOK_S = 0.001
QUIET = ("--ros-args", "--log-level", "warn")


class NodeDrive(Drive):
    """A plant's node in this process, paused at step 0, with a recorder beside it, inside the block."""

    @property
    def room(self) -> int:
        """How many ticks one call may do."""
        return ROOM

    def rows(self) -> np.ndarray[Any, Any]:
        """The inputs that each tick so far applied, u8 (n, bytes), as they are in the bag."""
        self.drain()
        rows = [np.zeros((0, self.stepper.input_layout.size), np.uint8)]
        for entry in Bag(self._bag):
            if entry.type == messages.RECORD:
                rows.append(messages.batch_of(messages.deserialise(entry.raw, entry.type)).records.inputs)
        return np.concatenate(rows)

    def drain(self) -> None:
        """Wait until all ticks are in the bag."""
        if self._is_over:
            return
        self._arrive(self.stepper.step)
        self._node_recorder.flush()

    def _open(self, making: ExitStack, plant: Plant) -> None:
        options, space = self._options, own_name()
        name = f"/{space}/{options.name}"
        self.names |= {"node": name, "namespace": f"/{space}", "ring": name}
        settings: dict[str, Any] = {
            "plant": reference_of(type(plant)),
            "rate": float(options.rate),
            "substeps": options.substeps,
            "seed": options.seed,
            "device": options.device,
            "keyframe_every": options.keyframe_every,
            "clock": "lockstep" if options.command is not None and not options.realtime else "native",
            "lockstep_inputs": ",".join(options.answers or ()),
            "lockstep_limit_ms": options.limit * 1e3,
            "lockstep_miss": options.miss,
            "start_paused": True,
            **{f"plant_parameters.{key}": value for key, value in plant.parameters.items()},
            **(options.ros or {}),
        }
        overrides = parameters_of(settings)
        writer = making.enter_context(BagWriter(self._bag, force=True))
        self._node_recorder = making.enter_context(recording(writer, name))
        self._node = making.enter_context(
            hosted(QUIET, name=options.name, namespace=space, parameter_overrides=overrides)
        )
        self._node.make("configure")
        self.stepper = self._node.assembly.stepper

    def _meet(self, making: ExitStack) -> None:
        """Activate the node when all have found each other: what it says of tick 0, it says once."""
        end = time.monotonic() + START_S

        def met() -> bool:
            if self._process is not None and (gone := self._process.ended()):
                raise SimNodeError(gone)
            if time.monotonic() > end:
                raise SimNodeError(f"node, recorder and controller did not find each other within {START_S:g} s")
            return self._node.recorders > 0 and (self._process is None or self._is_heard())

        spin_until(self._node, met, LOOK_S)
        self._node.make("activate")
        making.enter_context(spinning(self._node))

    def _is_heard(self) -> bool:
        """Tell whether the controller reads the ring, or has found topics of the plant in both directions."""
        if self.stepper.ring.readers():
            return True
        node, name = self._node, self.names["node"]
        sent = (f"{name}/{kind}/{each}" for each in self._awaited for kind in ("input", "command"))
        topics = [topic for topic, _ in node.get_topic_names_and_types() if topic.startswith(f"{name}/")]
        readers = (each for topic in topics for each in node.get_subscriptions_info_by_topic(topic))
        strangers = [each.node_name for each in readers if each.node_name not in (node.get_name(), RECORDER)]
        return bool(strangers) and any(node.count_publishers(topic) for topic in sent)

    def _tick(self, count: int) -> None:
        clock, wanted = self._node.assembly.clock, self.stepper.step + count
        clock.step(count)
        if self.stepper.step < wanted:
            gone = self._process.ended() if self._process is not None else ""
            raise clock.fault or SimNodeError(gone or f"the node stopped after tick {self.stepper.step}")

    def _tell(self) -> None:
        self._arrive(self.stepper.step - ROOM)

    def _arrive(self, step: int) -> None:
        end = time.monotonic() + ARRIVAL_S
        while self._node_recorder.recorded.ticks < step:
            if time.monotonic() > end:
                raise SimNodeError(f"records up to tick {step} did not arrive within {ARRIVAL_S:g} s")
            time.sleep(LOOK_S)
