"""A plant's node seen from another process: its statistics, and the services that pause, step and reset it."""

from __future__ import annotations

from contextlib import ExitStack
from threading import Event
from typing import Any

from rclpy.node import Node
from std_srvs.srv import Trigger

from sim_node.msg import Stats
from sim_node.node.process import joined, spinning
from sim_node.srv import Step

ANSWER_S = 3.0
KINDS = {"pause": Trigger, "resume": Trigger, "reset": Trigger, "step": Step}


class Remote:
    """Follows one plant's node at a time, inside the block, by a thread.

    Attributes: ``name`` of the node; ``stats``, its newest ``sim_node/msg/Stats``, None before the first.
    """

    def __init__(self) -> None:
        self.stats: Any = None
        self.name = ""
        self._made = ExitStack()
        self._clients: dict[str, Any] = {}
        self._subscription: Any = None

    def __enter__(self) -> Remote:
        with ExitStack() as making:
            context = making.enter_context(joined())
            self._node = Node("sim_node_top", context=context, start_parameter_services=False)
            making.callback(self._node.destroy_node)
            making.enter_context(spinning(self._node))
            self._made = making.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._made.close()

    def follow(self, name: str) -> None:
        """Follow the node of that full name from now on."""
        if name == self.name:
            return
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
        for client in self._clients.values():
            self._node.destroy_client(client)
        self.name, self.stats = name, None
        self._subscription = self._node.create_subscription(Stats, f"{name}/stats", self._take, 10)
        self._clients = {each: self._node.create_client(kind, f"{name}/{each}") for each, kind in KINDS.items()}

    def ask(self, what: str, **fields: Any) -> str:
        """Ask the followed node to pause, resume, step or reset; returns what it answered, or that it did not."""
        client = self._clients[what]
        if not client.wait_for_service(timeout_sec=ANSWER_S):
            return f"{self.name} has no service ~/{what}: does it run in this ROS domain?"
        answered = Event()
        future = client.call_async(KINDS[what].Request(**fields))
        future.add_done_callback(lambda _: answered.set())
        if not answered.wait(ANSWER_S):
            return f"{self.name}: no answer to {what} within {ANSWER_S:g} s"
        answer = future.result()
        return str(answer.message) if answer.success else f"refused: {answer.message}"

    def _take(self, message: Any) -> None:
        self.stats = message
