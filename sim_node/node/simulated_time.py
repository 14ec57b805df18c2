"""Simulated time for other nodes: /clock, from one simulator, which does not listen to it itself."""

from __future__ import annotations

from contextlib import ExitStack

from rcl_interfaces.msg import SetParametersResult
from rclpy.lifecycle import LifecycleNode
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions
from rosgraph_msgs.msg import Clock

from sim_node._native import Tick
from sim_node.errors import SimNodeError
from sim_node.node.assembly import Assembly
from sim_node.node.publication import Publication
from sim_node.node.topic import Topic
from sim_node.replay.messages import ROS, time_message

FEEDS_ITSELF = (
    "clock_topic_rate is {rate:g} Hz and use_sim_time is true: the node would take its time from the /clock that it "
    "makes; set use_sim_time to false for this node (`stamp: simulated` gives messages simulated time)"
)


class SimulatedTime:
    """The topic /clock, alive inside the block, where the settings ask for it.

    Raises SimNodeError where the node would listen to itself.
    """

    def __init__(self, node: LifecycleNode, assembly: Assembly) -> None:
        self._node, self._assembly = node, assembly
        self._topic: Topic[Clock] | None = None
        self._made = ExitStack()

    def __enter__(self) -> SimulatedTime:
        rate = self._assembly.settings.clock_topic_rate
        if rate:
            if self._node.get_parameter("use_sim_time").value:
                raise SimNodeError(FEEDS_ITSELF.format(rate=rate))
            with ExitStack() as making:
                overridable = QoSOverridingOptions.with_default_policies()
                topic = Topic(self._node, Clock, "/clock", QoSProfile(depth=1), qos_overriding_options=overridable)
                self._topic = making.enter_context(topic)
                self._node.add_on_set_parameters_callback(self._check)
                making.callback(self._node.remove_on_set_parameters_callback, self._check)
                self._made = making.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._made.close()

    def require_alone(self) -> None:
        """Refuse to begin where another node publishes /clock. Raises SimNodeError that names it."""
        if self._topic is None:
            return
        name = self._topic.publisher.topic_name
        others = self._node.get_publishers_info_by_topic(name)
        mine = self._node.get_fully_qualified_name()
        rivals = {f"{each.node_namespace.rstrip('/')}/{each.node_name}" for each in others} - {mine}
        if rivals:
            raise SimNodeError(
                f"{name} is published by {', '.join(sorted(rivals))} already: time would jump between the two; "
                "set clock_topic_rate to 0 here, or end the other"
            )

    def publications(self) -> list[Publication]:
        """What is to be published, in the life of the ring that begins: its first time goes out at once."""
        settings = self._assembly.settings
        if self._topic is None:
            return []
        return [Publication(self._topic, _time, settings.clock_topic_rate, settings.rate)]

    def _check(self, parameters: list[Parameter]) -> SetParametersResult:
        if any(each.name == "use_sim_time" and each.value for each in parameters):
            rate = self._assembly.settings.clock_topic_rate
            return SetParametersResult(successful=False, reason=FEEDS_ITSELF.format(rate=rate))
        return SetParametersResult(successful=True)


def _time(tick: Tick) -> Clock:
    return Clock(clock=time_message(tick.stamp_ns, ROS))
