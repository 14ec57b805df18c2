"""Each operation through the real ros2 commands, where those are installed."""

import os
import shutil
import signal
import subprocess

import pytest

pytest.importorskip("ros2cli", reason="ros2cli is not installed: its commands are tested with a sourced ROS")
if shutil.which("ros2") is None:
    pytest.skip("there is no ros2 command", allow_module_level=True)

NAME = f"commands_{os.getpid()}"


@pytest.fixture
def node(run, peer_of, plants):
    """A node's process, and its peer."""
    options = ("-r", f"__node:={NAME}", "-p", f"plant:={plants}:Follow", "-p", "rate:=200.0")
    process = run("--ros-args", *options)
    peer = peer_of(f"/{NAME}")
    peer.meet()
    yield process, peer
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0


def ros2(*words):
    """Run a command without its daemon, which would outlive the test; what it prints."""
    for _ in range(20):
        done = subprocess.run(["ros2", *words], capture_output=True, text=True, timeout=120, check=False)
        if "Node not found" not in done.stderr:  # it had no time for that
            break
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def call(service, kind, request="{}"):
    return ros2("service", "call", f"/{NAME}/{service}", kind, request)


def test_the_lifecycle_the_operations_and_the_parameters(node):
    _, peer = node
    alone = ("--no-daemon", "--spin-time", "3")
    assert NAME in ros2("node", "list", *alone)
    assert "unconfigured" in ros2("lifecycle", "get", f"/{NAME}", *alone)
    assert "successful" in ros2("lifecycle", "set", f"/{NAME}", "configure", *alone)
    assert "successful" in ros2("lifecycle", "set", f"/{NAME}", "activate", *alone)
    assert "active" in ros2("lifecycle", "get", f"/{NAME}", *alone)
    topics = ros2("topic", "list", "-t", *alone)
    for topic, kind in (("ring", "Ring"), ("tick", "Tick"), ("record", "Record"), ("stats", "Stats")):
        assert f"/{NAME}/{topic} [sim_node/msg/{kind}]" in topics
    told = ros2("param", "describe", f"/{NAME}", "rate", *alone)
    assert "Ticks in a second of real time." in told
    assert "Min value: 0.001" in told
    assert "200.0" in ros2("param", "get", f"/{NAME}", "rate", *alone)
    refused = subprocess.run(
        ["ros2", "param", "set", f"/{NAME}", "rate", "100.0", *alone], capture_output=True, text=True, check=False
    )
    assert "deactivate and clean up" in refused.stdout + refused.stderr
    assert "success=True" in call("pause", "std_srvs/srv/Trigger")
    held = int(call("step", "sim_node/srv/Step", "{ticks: 5}").rpartition("at step ")[2].split("'")[0])
    assert f"at step {held + 1}" in call("step", "sim_node/srv/Step", "{ticks: 1}")
    assert "success=False" in call("step", "sim_node/srv/Step", "{ticks: 0}")
    assert "at step 0 of generation" in call("reset", "std_srvs/srv/Trigger")
    assert "success=True" in call("reset_statistics", "std_srvs/srv/Trigger")
    assert "success=True" in call("resume", "std_srvs/srv/Trigger")
    for transition in ("deactivate", "cleanup"):
        assert "successful" in ros2("lifecycle", "set", f"/{NAME}", transition, *alone)
    assert peer.state() == "unconfigured"
