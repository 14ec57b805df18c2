"""Other processes take the bench's ticks, by both ways of waiting, in Python and in C, alone and in a crowd."""

import os
from pathlib import Path

import pytest

from sim_node.cli.benches import bridge, bridge_ring
from sim_node.cli.benches.bridge_ring import Source, crowd, round_trips, wake
from sim_node.cli.benches.native import compiled
from sim_node.cli.benches.processes import module
from sim_node.errors import PlantError


@pytest.fixture
def source():
    made = Source(4096)
    yield made
    made.publisher.close()
    assert not list(Path("/dev/shm").glob(f"sim_node.*.bench.{os.getpid()}.*"))


@pytest.mark.parametrize("spin_us", bridge.WAITS.values(), ids=bridge.WAITS)
@pytest.mark.parametrize("language", ["python", "c"])
def test_a_reader_takes_the_ticks_that_are_published_while_it_reads(source, spin_us, language, tmp_path):
    reader = module("bridge_reader") if language == "python" else [str(compiled("bridge_reader.c", tmp_path))]
    for _ in range(2):  # the second reader finds old ticks, which it does not count
        found = wake(source, reader, spin_us, 30)
        assert 0 < len(found["wake"]) <= len(found["publish"]) == 30
        assert min(found["wake"]) > 0
        assert all(wake < call for wake, call in zip(found["wake"], found["call"]))


def test_a_crowd_reads_while_it_lasts(source):
    with crowd(source, 5):
        readers = source.publisher.ring.readers()
        assert len({row[0] for row in readers}) == 5
        source.publish(30)
    with crowd(source, 0):
        assert not [alive for _, alive, *_ in source.publisher.ring.readers() if alive]


@pytest.mark.parametrize("spin_us", bridge.WAITS.values(), ids=bridge.WAITS)
def test_the_loop_is_closed_in_lockstep(spin_us, tmp_path):
    cycles = round_trips([str(compiled("bridge_controller.cpp", tmp_path))], 50, spin_us)
    assert len(cycles) in (49, 50)  # the last tick's successor is the ring's end
    assert min(cycles) > 0


def test_a_loop_whose_controller_fails_ends(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.write_text("#!/bin/sh\necho ready\n")
    gone.chmod(0o755)
    monkeypatch.setattr(bridge_ring, "LIMIT_NS", 1_000_000)
    with pytest.raises(PlantError, match="no answer to tick 0 on 'force'"):
        round_trips([str(gone)], 1, 0)
