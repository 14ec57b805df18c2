"""The bench of the bridge pools what it measures, tells who is absent, and divides by the right medians."""

import pytest

from sim_node.cli.benches import bridge, bridge_peers
from sim_node.errors import RingError

KINDS = ("wake", "call", "publish")


class Ring:
    """Stands in for a ring of the bench."""

    def __init__(self, nbytes):
        if nbytes >= 1 << 30:
            raise RingError("needs more bytes than /dev/shm has")
        self.nbytes, self.publisher = nbytes, self

    def close(self):
        pass


@pytest.fixture
def measured(monkeypatch):
    """Each wake of ours takes 2 µs, of C's 1 µs, of a peer 10 µs; a cycle of the loop 5 µs."""

    class Nothing:
        def __enter__(self):
            pass

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(bridge, "Source", Ring)
    monkeypatch.setattr(bridge, "crowd", lambda source, count: Nothing())
    monkeypatch.setattr(bridge, "compiled", lambda source, folder: folder / source)
    monkeypatch.setattr(
        bridge,
        "wake",
        lambda source, reader, *_: {kind: [1000 if reader[0].endswith(".c") else 2000] for kind in KINDS},
    )
    monkeypatch.setattr(bridge, "round_trips", lambda *_: [5000])
    monkeypatch.setattr(bridge_peers, "iceoryx2", lambda *_: [10_000])
    monkeypatch.setattr(bridge_peers, "shared_memory", lambda *_: [10_000])
    monkeypatch.setattr(bridge_peers, "rclpy", lambda: {"absent": "no rclpy"})


def test_all_are_measured_in_each_round(measured):
    found = bridge.run(ticks=1, rounds=3)
    assert found.figures["wake_spin_4kB"]["count"] == found.figures["publish_futex_64_readers"]["count"] == 3
    assert found.figures["wake_spin_1MB"]["p50_us"] == 2.0
    assert found.peers["c_reader"]["wake_futex_64MB"]["p50_us"] == 1.0
    assert found.peers["cpp_controller"]["loop"]["p50_us"] == 5.0
    assert found.peers["rclpy"] == {"absent": "no rclpy"}
    assert found.ratios["vs_iceoryx2_4kB"] == found.ratios["vs_iceoryx2"] == 5.0
    assert found.ratios["vs_shared_memory_1MB"] == 5.0
    assert found.ratios["flat_sizes_spin"] == found.ratios["flat_readers_futex"] == 1.0


def test_what_does_not_fit_and_who_cannot_run_is_told(measured, monkeypatch):
    def absent(*_):
        raise bridge_peers.AbsentError("no iceoryx2")

    def uncompiled(source, folder):
        raise FileNotFoundError("there is no compiler 'cc'")

    monkeypatch.setattr(bridge_peers, "iceoryx2", absent)
    monkeypatch.setattr(bridge, "compiled", uncompiled)
    found = bridge.run(ticks=1, rounds=2)
    assert found.figures["wake_1GB"] == {"absent": "needs more bytes than /dev/shm has"}
    assert found.peers["iceoryx2"] == {"absent": "no iceoryx2"}
    assert "no compiler" in found.peers["c_reader"]["absent"]
    assert "no compiler" in found.peers["cpp_controller"]["absent"]
    assert not [name for name in found.ratios if "iceoryx2" in name]


def test_ratios_divide_a_peers_median_by_ours():
    figures = {
        "wake_spin_1MB": {"p50_us": 2.0},
        "call_spin_1MB": {"p50_us": 2.5},
        "call_futex_1MB": {"p50_us": 8.0},
        "wake_spin_4kB": {"p50_us": 1.0},
        "wake_spin_64kB": {"p50_us": 1.6},
    }
    peers = {
        "rclpy": {"serialize_1MB": {"p50_us": 1000.0}, "message_1MB": {"p50_us": 3000.0}},
        "iceoryx2": {"call_spin_1MB": {"p50_us": 10.0}, "call_futex_1MB": {"p50_us": 12.0}},
    }
    ratios = bridge.ratios(figures, peers)
    assert ratios["vs_rclpy_1MB"] == 500.0
    assert ratios["vs_rclpy_message_1MB"] == 1500.0
    assert ratios["vs_iceoryx2_1MB"] == 4.0
    assert ratios["vs_iceoryx2"] == ratios["vs_iceoryx2_1MB_futex"] == 1.5
    assert ratios["flat_sizes_spin"] == 1.6
    assert "vs_rclpy_4kB" not in ratios
    assert "flat_readers_spin" not in ratios
