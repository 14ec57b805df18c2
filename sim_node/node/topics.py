"""What the node publishes: the ring's address, ticks, and what a bag needs for replay."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import Any

from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleNode
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions

from sim_node._native import Tick
from sim_node.bridge.handle import boot_id
from sim_node.layout import Layout
from sim_node.msg import Field, Keyframe, Record, Ring, Unanswered
from sim_node.msg import Tick as TickMessage
from sim_node.node.assembly import Assembly
from sim_node.node.outputs import Outputs
from sim_node.node.publication import Publication, publishing
from sim_node.node.simulated_time import SimulatedTime
from sim_node.node.topic import Topic
from sim_node.replay.messages import ROS, keyframe_message, record_message, time_message, trimmed, unanswered_message

LATCHED = DurabilityPolicy.TRANSIENT_LOCAL
# Late subscribers get what is kept: the newest ring, and records of about the last five seconds with their keyframes,
# so that a recorder which is discovered a little late misses no tick.
# A profile is made of this for each publisher: rclpy writes a node's overrides into the profile that it is given.
QUALITY: dict[str, tuple[type[Any], dict[str, Any]]] = {
    "ring": (Ring, {"depth": 1, "durability": LATCHED}),
    "tick": (TickMessage, {"depth": 10}),
    "record": (Record, {"depth": 100, "durability": LATCHED}),
    "keyframe": (Keyframe, {"depth": 10, "durability": LATCHED}),
    "unanswered": (Unanswered, {"depth": 100, "durability": LATCHED}),
}
FOR_REPLAY = ("record", "keyframe")
ACKNOWLEDGED = Duration(seconds=1.0)


class Topics:
    """The publishers, alive inside the block; what they publish goes out between start and stop."""

    def __init__(self, node: LifecycleNode, assembly: Assembly, outputs: Outputs, time: SimulatedTime) -> None:
        self._node, self._assembly, self._outputs, self.time = node, assembly, outputs, time
        self._topics: dict[str, Topic[Any]] = {}
        self._made, self._running = ExitStack(), ExitStack()

    def __enter__(self) -> Topics:
        overridable = QoSOverridingOptions.with_default_policies()
        with ExitStack() as making:
            for name, (kind, quality) in QUALITY.items():
                made = Topic(self._node, kind, f"~/{name}", QoSProfile(**quality), qos_overriding_options=overridable)
                self._topics[name] = making.enter_context(made)
            self.announce()
            self._made = making.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        for name in FOR_REPLAY:  # what is on its way goes out first; a recorder that hangs is not waited for
            self._topics[name].publisher.wait_for_all_acked(ACKNOWLEDGED)
        self._made.close()

    @property
    def recorders(self) -> int:
        """How many subscribers get all that replay needs."""
        return min(int(self._topics[name].publisher.get_subscription_count()) for name in FOR_REPLAY)

    def announce(self) -> None:
        """Publish where the ring is."""
        self._topics["ring"].publish(self._address, generation=self._assembly.publisher.generation)

    def _address(self) -> Ring:
        publisher = self._assembly.publisher
        ring = publisher.ring
        message = Ring(
            transport=publisher.transport,
            segment=publisher.name,
            generation=ring.generation,
            owner_pid=ring.owner_pid,
            owner_start=ring.owner_start,
            owner_uid=ring.owner_uid,
            boot_id=boot_id(),
            slots=ring.slots,
            layout_digest=publisher.layout.digest,
            fields=_fields(publisher.layout),
            inputs=_fields(publisher.inputs),
            topics=self._outputs.announced(),
        )
        if publisher.exported is not None:
            offer = publisher.exported.offer(ring.generation)
            message.device_transport, message.device_transport_why = offer.transport, offer.why
            message.device_uuid, message.driver = offer.uuid, offer.driver
            message.device_fields = _fields(offer.layout)
        message.header.stamp = self._node.get_clock().now().to_msg()
        return message

    def start(self) -> None:
        """Publish the keyframe that the next records follow; ticks and outputs from now on. The clock stands still."""
        settings, publisher = self._assembly.settings, self._assembly.publisher
        if settings.record:
            self._publish_keyframe(self._assembly.stepper.keyframe())
        publications = [*self.time.publications(), *self._outputs.publications()]
        if settings.tick_topic_rate:
            tell = partial(_tick, publisher.generation)
            publications.append(Publication(self._topics["tick"], tell, settings.tick_topic_rate, settings.rate))
        if publications:
            self._running.enter_context(publishing(self._node, publisher, settings.period_ns, publications))

    def stop(self) -> None:
        """Publish what still waits, then no more; the clock stands still."""
        self._running.close()
        self.flush()

    def flush(self) -> None:
        """Publish the waiting records and keyframe."""
        if not self._assembly.settings.record:
            return
        stepper, generation = self._assembly.stepper, self._assembly.publisher.generation
        last, done = stepper.step, -1
        # What ticks meanwhile goes out with the next: else half of the messages, and of those kept, are of one tick.
        while done < last and (records := stepper.drain()).count:
            done = records.first_step + records.count - 1
            steps = {"first_step": records.first_step, "count": records.count}
            self._topics["record"].publish(partial(record_message, records, generation, ROS), **steps)
            if records.unanswered.any():
                told = partial(unanswered_message, records, generation, stepper.dt_ns, ROS)
                self._topics["unanswered"].publish(told, **steps)
        keyframe = stepper.take_keyframe()
        if keyframe is not None:
            self._publish_keyframe(keyframe)

    def _publish_keyframe(self, keyframe: Any) -> None:
        fitting = trimmed(keyframe)
        if fitting is not None:
            generation = self._assembly.publisher.generation
            make = partial(keyframe_message, fitting, generation, ROS)
            self._topics["keyframe"].publish(make, step=fitting.step)


def _tick(generation: int, tick: Tick) -> TickMessage:
    stamp = time_message(tick.stamp_ns, ROS)
    return TickMessage(stamp=stamp, step=tick.step, slot=tick.slot, generation=generation, hash=tick.hash)


def _fields(layout: Layout) -> list[Field]:
    return [Field(name=f.name, dtype=f.dtype, shape=list(f.shape), offset=f.offset, unit=f.unit) for f in layout]
