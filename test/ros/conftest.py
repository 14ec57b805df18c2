"""A node in this process and a peer that talks to it through the middleware, in a ROS domain of the test's own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest

PLANTS = Path(__file__).with_name("plants.py")
LIMIT = 60.0  # seconds after which what is awaited will not come


def pytest_collection_modifyitems(items):
    """Let the server warn of an answer to a client that it has not discovered yet; ``Peer.meet`` asks again."""
    undiscovered = pytest.mark.filterwarnings("ignore:failed to send response:RuntimeWarning")
    for item in items:
        if item.path.parent == PLANTS.parent:
            item.add_marker(undiscovered)


class Peer:
    """A node with a context of its own, as another process would have"""

    def __init__(self, target):
        import rclpy
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.signals import SignalHandlerOptions

        self.target, self.clients = target, {}
        self.context = rclpy.Context()
        rclpy.init(context=self.context, signal_handler_options=SignalHandlerOptions.NO)
        self.node = rclpy.create_node("peer", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)

    def close(self):
        self.executor.shutdown()
        self.node.destroy_node()
        self.context.try_shutdown()

    def until(self, condition, what):
        """Spin until the condition holds, and return its value."""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.05)
            value = condition()
            if value:
                return value
        raise AssertionError(f"no {what} within {LIMIT:g} s")

    def call(self, kind, name, /, **fields):
        client = self.clients.get(name)
        if client is None:
            self.clients[name] = client = self.node.create_client(kind, f"{self.target}/{name}")
            self.until(client.service_is_ready, f"service {name}")
            self.meet()
        future = client.call_async(kind.Request(**fields))
        self.until(future.done, f"answer of {name}")
        return future.result()

    def meet(self):
        """Wait until the other side has discovered what was created here: until then it answers nobody.

        Discovery keeps an order, so what a later client is answered, an earlier one is too.
        """
        from lifecycle_msgs.srv import GetState

        client = self.node.create_client(GetState, f"{self.target}/get_state")
        self.until(client.service_is_ready, "service get_state")
        asked = []

        def answered():
            asked.append(client.call_async(GetState.Request()))
            return any(future.done() for future in asked)

        self.until(answered, "answer of get_state")
        self.node.destroy_client(client)

    def change(self, transition):
        from lifecycle_msgs.msg import Transition
        from lifecycle_msgs.srv import ChangeState

        return self.call(ChangeState, "change_state", transition=Transition(label=transition)).success

    def state(self):
        from lifecycle_msgs.srv import GetState

        return self.call(GetState, "get_state").current_state.label

    def set(self, name, value):
        """Set a parameter; returns why it is refused, or ''."""
        from rcl_interfaces.srv import SetParameters
        from rclpy.parameter import Parameter

        message = Parameter(name, value=value).to_parameter_msg()
        result = self.call(SetParameters, "set_parameters", parameters=[message]).results[0]
        return "" if result.successful else result.reason

    def get(self, name):
        from rcl_interfaces.srv import GetParameters
        from rclpy.parameter import parameter_value_to_python

        return parameter_value_to_python(self.call(GetParameters, "get_parameters", names=[name]).values[0])

    def listen(self, kind, topic, late=True, depth=1000):
        """Collect the messages of a topic; ``late`` asks for those published before, too."""
        from rclpy.qos import DurabilityPolicy, QoSProfile

        durability = DurabilityPolicy.TRANSIENT_LOCAL if late else DurabilityPolicy.VOLATILE
        name = topic if topic.startswith("/") else f"{self.target}/{topic}"
        received = []
        self.node.create_subscription(kind, name, received.append, QoSProfile(depth=depth, durability=durability))
        return received


@pytest.fixture
def rig(ros_domain, cache):
    """Make nodes of this process and the peer of each: ``with rig(parameters) as (node, peer)``, unconfigured."""
    from rclpy.parameter import Parameter

    from sim_node.node.process import hosted, spinning

    @contextmanager
    def make(arguments=(), **parameters):
        given = {"plant": f"{PLANTS}:Follow", "rate": 200.0, **parameters}
        overrides = [Parameter(key, value=value) for key, value in given.items()]
        with ExitStack() as stack:
            # Rings are the user's, not the domain's: workers must not meet.
            name = f"plant_{os.getpid()}"
            node = stack.enter_context(hosted(arguments, name=name, parameter_overrides=overrides))
            stack.enter_context(spinning(node))
            peer = Peer(node.get_fully_qualified_name())
            stack.callback(peer.close)
            yield node, peer

    return make


@pytest.fixture
def plants():
    """Where the plants of these tests are."""
    return PLANTS


@pytest.fixture
def spawn(ros_domain, cache):
    """Start Pythons that do not outlive the test."""
    with ExitStack() as stack:

        def start(*arguments, **options):
            process = stack.enter_context(subprocess.Popen([sys.executable, *arguments], text=True, **options))
            stack.callback(process.kill)
            return process

        yield start


@pytest.fixture
def run(spawn):
    """Start nodes as processes."""
    return partial(spawn, "-c", "import sys; from sim_node.node.main import main; sys.exit(main())")


@pytest.fixture
def peer_of(ros_domain):
    """Make peers of nodes by their full names."""
    with ExitStack() as stack:

        def make(target):
            peer = Peer(target)
            stack.callback(peer.close)
            return peer

        yield make
