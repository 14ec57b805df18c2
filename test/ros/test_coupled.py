"""Coupled plants as nodes: of one process, or each of its own, with the same bits."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="installed without ROS")

from std_srvs.srv import Trigger

from sim_node.bridge.transports import posix_shm
from sim_node.msg import Keyframe, Record
from sim_node.plant import Stepper, reference
from sim_node.replay.messages import batch_of, keyframe_of

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "coupled" / "coupled.yaml"
SPACE = f"/car_{os.getpid()}"
TICKS = {f"{SPACE}/body": 500, f"{SPACE}/actuator": 2000}


@pytest.fixture
def network(tmp_path):
    """The example, under names of this test's own."""
    path = tmp_path / "coupled.yaml"
    text = EXAMPLE.read_text().replace("/car/", f"{SPACE}/")
    path.write_text(text.replace("actuator.py", str(EXAMPLE.with_name("actuator.py"))))
    return path


@pytest.fixture
def command(spawn):
    """Start commands."""
    return lambda *arguments, **options: spawn("-m", "sim_node.cli", *arguments, **options)


def rows(records, count):
    """The inputs and the hashes of the first ticks, which have to be there."""
    batches = [batch_of(record).records for record in records]
    steps = np.concatenate([batch.first_step + np.arange(batch.count) for batch in batches])
    assert steps[:count].tolist() == list(range(1, count + 1))
    return [np.concatenate([getattr(batch, what) for batch in batches])[:count] for what in ("inputs", "hashes")]


@pytest.fixture
def heard(peer_of):
    """Listen to the nodes: wait for their first ticks, and give for each what happened and that it replays alone."""

    def begin():
        peers = {name: peer_of(name) for name in TICKS}
        told = {
            name: (peer.listen(Record, "record"), peer.listen(Keyframe, "keyframe")) for name, peer in peers.items()
        }

        def reached(name):
            records, _ = told[name]
            return records and records[-1].first_step + records[-1].count > TICKS[name]

        def finish():
            found = {}
            for name, peer in peers.items():  # who hears the first keyframe has been discovered
                peer.until(lambda name=name: told[name][1], f"first keyframe of {name}")
            for peer in peers.values():
                assert peer.call(Trigger, "resume").success
            for name, peer in peers.items():
                peer.until(lambda name=name: reached(name), f"ticks of {name}")
                inputs, hashes = rows(told[name][0], TICKS[name])
                first, _ = keyframe_of(told[name][1][0])
                again = Stepper(
                    reference(first.plant)(**json.loads(first.parameters)), dt_ns=first.dt_ns, substeps=first.substeps
                )
                again.restore(first)
                assert np.array_equal(again.replay(inputs).hashes, hashes)
                assert len(np.unique(inputs, axis=0)) > 10
                found[name] = inputs.tolist(), hashes.tolist()
            return found

        return finish

    return begin


def test_in_one_process_or_in_three_the_ticks_are_the_same(command, heard, network, peer_of):
    network.write_text(network.read_text().replace("    rate:", "    start_paused: true\n    rate:"))
    network = str(network)
    finish = heard()
    together = command("run", network, stderr=subprocess.PIPE)
    one = finish()
    together.terminate()
    _, said = together.communicate(timeout=60)
    assert together.returncode == 0
    assert "is gone" not in said
    assert not [name for name in TICKS if posix_shm.path_of(name.strip("/").replace("/", ".")).exists()]

    finish = heard()
    apart = {name: command("run", network, "--only", name) for name in TICKS}
    couple = command("couple", network, stderr=subprocess.PIPE)
    assert finish() == one
    apart[f"{SPACE}/actuator"].kill()
    for line in couple.stderr:
        if "/actuator is gone: its ring is closed, or its process dead; reset" in line:
            break
    else:
        raise AssertionError("nothing was told")
    body = peer_of(f"{SPACE}/body")
    assert body.set("lockstep_limit_ms", 1.0).endswith("deactivate the node first")
    for process in (couple, apart[f"{SPACE}/body"]):
        process.terminate()
        process.wait(60)
        assert process.returncode == 0
    posix_shm.path_of(f"{SPACE.strip('/')}.actuator").unlink()  # which the next life of the node would do


def test_nodes_that_are_paused_or_reset_go_on_together(ros_domain, cache, network, peer_of):
    from threading import Event

    from sim_node.node.process import running
    from sim_node.wires.conductor import conducting
    from sim_node.wires.network import Network

    described, told = Network.read(network), []
    with running(described.plants, coupled=conducting(described.couplings, told.append, Event())) as nodes:
        peers = [peer_of(node.get_fully_qualified_name()) for node in nodes]

        def moved(by=100):
            before = [node.assembly.stepper.step for node in nodes]
            peers[0].until(
                lambda: all(node.assembly.stepper.step > step + by for node, step in zip(nodes, before)), "ticks"
            )

        moved()
        assert peers[0].call(Trigger, "pause").success
        body, actuator = (node.assembly.stepper for node in nodes)
        peers[1].until(lambda: actuator.step == 4 * body.step + 4, "the last tick that needs no later one of the body")
        assert peers[0].call(Trigger, "resume").success
        moved()
        assert told == []
        for peer in peers:
            assert peer.call(Trigger, "reset").success
        moved()
        assert any("they are coupled from tick 0 on" in line for line in told)
        assert [node.assembly.stepper.counters()["unanswered"] for node in nodes] == [0, 0]
        assert [node.state for node in nodes] == ["active", "active"]
