"""The page of a bag: what it tells, and what it says where the bag does not tell."""

from types import SimpleNamespace

import numpy as np
import pytest

from sim_node.cli.main import run
from sim_node.errors import BagError
from sim_node.layout import Layout
from sim_node.replay import messages, status
from sim_node.replay.bag import Bag
from sim_node.replay.verify import verify
from sim_node.replay.writer import BagWriter


@pytest.fixture
def car(tmp_path):
    path = tmp_path / "car.mcap"
    command = ["run", "quarter_car", "--offline", "--seconds", "0.2", "--input", "force=5", "--name", "a/car"]
    assert run([*command, "--bag", str(path)]) == 0
    return path


def stats(generation):
    """The last message of a clock of 200 ticks."""
    types = messages.BAG.type
    histogram = types("sim_node/msg/Histogram")(
        name="lateness", unit="ns", count=200, mean=1500.0, p50=1400, p99=9000, p999=9500, max=9700,
        edges=np.array([0, 1400, 9000], np.uint64), counts=np.array([1, 197, 2], np.uint64),
    )  # fmt: skip
    return types(messages.STATS)(
        stamp=messages.time_message(0, messages.BAG), generation=generation, step=200, clock="native", state="running",
        real_time_factor=1.0, since_start=[histogram], since_reset=[], counters=["ticks", "misses"],
        counted_since_start=np.array([200, 7], np.uint64), counted_since_reset=np.zeros(2, np.uint64),
    )  # fmt: skip


def test_an_offline_run(car, tmp_path):
    (life,) = status.lives(car)
    assert (life.name, life.ticks, life.last, life.factor, life.counters) == ("/a/car", 200, 200, None, {})
    text = status.write(car, verify(car), [life], tmp_path / "page.html").read_text()
    for words in (
        "identical",
        "QuarterCar",
        "recorded offline",
        "0.2 s",
        "tyre_force",
        "Plotly.newPlot",
        life.start.plan_digest,
    ):
        assert words in text
    assert "<script src=" not in text


def test_a_run_of_a_node(car, tmp_path):
    """As a recorder leaves it: stamped by the clock on the wall, and with the clock's statistics."""
    path = tmp_path / "node.mcap"
    with BagWriter(path) as writer:
        for number, entry in enumerate(Bag(car)):
            writer.write(entry.topic, entry.type, 10**18 + number * 50_000_000, entry.raw)
        writer.write("/a/car/stats", messages.STATS, 2 * 10**18, messages.serialise(stats(1), messages.STATS))
    (life,) = status.lives(path)
    assert life.counters == {"ticks": 200, "misses": 7}
    life.stamps = [(10**18, 100), (10**18 + 100_000_000, 200)]
    assert life.factor == pytest.approx(1.0)
    text = status.write(path, verify(path), [life], tmp_path / "page.html").read_text()
    for words in ("native", "<th>misses</th><td>7</td>", "<td>lateness</td><td>ns</td><td>200</td>", "9500"):
        assert words in text
    assert text.count("Plotly.newPlot") == 2


def test_what_cannot_be_plotted_is_said(recording, build, tmp_path, monkeypatch):
    bag = recording()  # of a plant that no module has
    found = status.lives(bag)
    text = status.write(bag, verify(bag, build=build), found, tmp_path / "page.html").read_text()
    assert "No plots: " in text
    bag.write_bytes(bag.read_bytes()[:200])
    text = status.write(bag, verify(bag, build=build), [status.Life("/car", 1)], tmp_path / "page.html").read_text()
    assert "NOT VERIFIED" in text
    assert "No plots: there is no keyframe" in text
    with pytest.raises(BagError):
        status.lives(tmp_path / "none.mcap")


def test_fields_that_are_too_large_are_left_out():
    layout = Layout.of(
        [(name, SimpleNamespace(name="f64"), (size,), "") for name, size in (("a", 1), ("b", 10**6), ("c", 2))]
    )
    taken, left = status._fitting(layout, 1000)
    assert [each.name for each in taken] == ["a", "c"]
    assert left == ["b"]
