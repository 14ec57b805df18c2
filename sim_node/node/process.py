"""A node in a process: its executor in a thread, its end in order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import rclpy
from rclpy.context import Context
from rclpy.exceptions import NameValidationException
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from rclpy.validate_namespace import validate_namespace
from rclpy.validate_node_name import validate_node_name

from sim_node.errors import SimNodeError
from sim_node.node.node import PlantNode
from sim_node.node.parameters import Value
from sim_node.node.report import report


@contextmanager
def joined(arguments: Sequence[str] = ()) -> Iterator[Context]:
    """Join ROS inside the block, by a context of its own for the nodes there.

    ROS's own signal handling is left out, since it would take the middleware away first.
    """
    context = Context()
    rclpy.init(args=list(arguments), context=context, signal_handler_options=SignalHandlerOptions.NO)
    try:
        yield context
    finally:
        rclpy.shutdown(context=context)


@contextmanager
def hosted(arguments: Sequence[str] = (), **options: Any) -> Iterator[PlantNode]:
    """Make a node in a ROS context of its own; on leaving, it shuts down in order and its last records go out.

    Raises SimNodeError when ROS does not take the name.
    """
    with joined(arguments) as context, _living(context, **options) as node:
        yield node


@contextmanager
def _living(context: Context, **options: Any) -> Iterator[PlantNode]:
    """Make a node, and shut it down in order. Raises SimNodeError when ROS does not take the name."""
    try:
        validate_node_name(options.get("name") or "sim_node")
        validate_namespace(f"/{(options.get('namespace') or '').strip('/')}")
    except NameValidationException as fault:
        raise SimNodeError(" ".join(str(fault).split())) from fault
    node = PlantNode(context=context, **options)
    try:
        yield node
    finally:
        node.finish()
        node.destroy_node()


@contextmanager
def spinning(*nodes: Node) -> Iterator[None]:
    """Run the callbacks of nodes of one context in a thread; one that raises is reported, and the nodes go on.

    Not rclpy's events executor: its thread and a client in the same process wait for each other (Jazzy, Kilted).
    """
    executor = SingleThreadedExecutor(context=nodes[0].context)
    for node in nodes:
        executor.add_node(node)
    leaving = threading.Event()

    def run() -> None:
        while not leaving.is_set():
            try:
                executor.spin()
            except ExternalShutdownException:
                return
            except Exception as fault:
                nodes[0].get_logger().error(report("a callback failed", fault))

    thread = threading.Thread(target=run, name="sim_node executor")
    thread.start()
    try:
        yield
    finally:
        leaving.set()
        executor.shutdown()
        thread.join()


def spin_until(node: PlantNode, done: Callable[[], bool], look_s: float = 0.05) -> None:
    """Run the node's callbacks in this thread until ``done()`` holds, asked at least each ``look_s`` seconds."""
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    try:
        while not done():
            executor.spin_once(timeout_sec=look_s)
    finally:
        executor.remove_node(node)
        executor.shutdown()


def parameters_of(values: Mapping[str, Value]) -> list[Parameter]:
    """Make ROS parameters of names and values."""
    return [Parameter(name, value=value) for name, value in values.items()]


@contextmanager
def running(
    plants: Mapping[str, Mapping[str, Value]],
    arguments: Sequence[str] = (),
    coupled: AbstractContextManager[object] | None = None,
) -> Iterator[list[PlantNode]]:
    """Run nodes in this process, by one executor, configured and active inside the block.

    ``plants`` has for each node's full name its parameters: the node's own and, under ``plant_parameters.``, the
    plant's; ``arguments`` are ROS's. ``coupled`` is entered when all are configured and none is active yet.
    Raises what made configure or activate fail.
    """
    with joined(arguments) as context, ExitStack() as making:
        nodes = []
        for full, parameters in plants.items():
            space, _, name = full.strip("/").rpartition("/")
            overrides = parameters_of(parameters)
            living = _living(context, name=name, namespace=space or None, parameter_overrides=overrides)
            nodes.append(making.enter_context(living))
        for node in nodes:
            node.make("configure")
        if coupled is not None:
            making.enter_context(coupled)
        for node in nodes:
            node.make("activate")
        making.enter_context(spinning(*nodes))
        yield nodes
