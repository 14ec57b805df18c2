"""The peers of the bridge bench run where they are installed, and else say that they are absent."""

import sys

import pytest

from sim_node.cli.benches import bridge_peers, iceoryx2_peer, rclpy_peer


@pytest.mark.parametrize(
    ("package", "peer"),
    [
        ("rclpy", lambda: rclpy_peer.main("subscribe", 4096, 1, "none")),
        ("iceoryx2", lambda: iceoryx2_peer.main("subscribe", "none", 4096, False, 1)),
    ],
    ids=["rclpy", "iceoryx2"],
)
def test_a_peer_says_that_it_is_absent(monkeypatch, capsys, package, peer):
    monkeypatch.setitem(sys.modules, package, None)
    peer()
    assert "absent" in capsys.readouterr().out


@pytest.mark.usefixtures("ros_domain")
def test_rclpy_gets_its_message(monkeypatch):
    pytest.importorskip("rclpy")
    monkeypatch.setattr(bridge_peers, "MESSAGES", {"4kB": (4096, 3)})
    figures = bridge_peers.rclpy()
    assert figures["message_4kB"]["count"] >= 3
    assert figures["serialize_4kB"]["count"] == 200


@pytest.mark.parametrize("event", [False, True])
def test_iceoryx2_gets_its_samples(event):
    pytest.importorskip("iceoryx2")
    found = bridge_peers.iceoryx2(4096, event, 30)
    assert 0 < len(found) <= 30
    assert min(found) > 0


def test_shared_memory_gets_its_buffers():
    found = bridge_peers.shared_memory(4096, 30)
    assert 0 < len(found) <= 30
    assert min(found) > 0


def test_what_a_peer_said_instead_of_ready_is_why_it_is_absent(monkeypatch):
    said = "import json; print(json.dumps({'absent': 'no \"iceoryx2\"'}))"
    monkeypatch.setattr(bridge_peers, "module", lambda *_: [sys.executable, "-c", said])
    with pytest.raises(bridge_peers.AbsentError, match='no "iceoryx2"'):
        bridge_peers.iceoryx2(4096, False, 1)
