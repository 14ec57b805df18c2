"""What is drawn: bars over decades, and every part of a plant."""

import io

from rich.console import Console

from sim_node.bridge.inventory import InputInfo, ReaderInfo, RingInfo, WriterInfo
from sim_node.cli.gauges import Gauge
from sim_node.cli.screen import BLOCKS, DECADES, FINE, bars, draw


def shown(*arguments):
    console = Console(file=io.StringIO(), width=160)
    console.print(draw(*arguments))
    return console.file.getvalue()


def test_bars_stand_at_their_decade_and_those_outside_at_the_ends():
    width = (len(DECADES) - 1) * FINE
    assert bars([], []) == " " * width
    drawn = bars([0, 1_000, 10**12], [1, 800, 400])
    assert len(drawn) == width
    assert (drawn[0], drawn[FINE], drawn[-1]) == (BLOCKS[1], BLOCKS[-1], BLOCKS[4])


def test_all_of_a_plant_is_drawn():
    writer = WriterInfo(44, True, "steering", 3, 10, 9, True)
    reader = ReaderInfo(55, True, 2, 99, 98, 1, 0, 0, 1000)
    ring = RingInfo(
        "car", "posix_shm", 33, True, 7, 8, 2, 0, 99, 5, readers=(reader,),
        inputs=(InputInfo("force", False, 100, 99, 98, 5, (writer,)),),
    )  # fmt: skip
    told = {"unit": "ns", "p50": 1500, "p99": 2_500_000, "max": 3 * 10**9, "edges": [1500], "counts": [3]}
    delay = {**told, "unit": "ticks", "p50": 1}
    gauge = Gauge(ring, 999.6, "running", "native", 0.998, {"misses": 5}, {"lateness": told, "delay_ticks": delay})
    text = shown([gauge], 0, "pause: paused")
    words = (
        "▶",
        "car",
        "running",
        "native",
        "1000",
        "0.998",
        "99",
        "33",
        "misses 5",
        "1.5 µs",
        "2.5 ms",
        "3 s",
        "1 ticks",
    )
    for word in (*words, "55", "98", "steering", "44", "pause: paused", "q quit"):
        assert word in text


def test_what_cannot_be_read_and_nothing_at_all():
    assert "another user's" in shown(
        [Gauge(RingInfo("x", "p", problem="another user's"), None, "?", "", None, {}, {})], 0, ""
    )
    assert "There is no ring" in shown([], 0, "")
