"""Fields become panels, and thinning keeps each peak."""

import numpy as np

from sim_node import dtypes
from sim_node.layout import Layout
from sim_node.plant.statistics import Distribution
from sim_node.replay.history import History
from sim_node.replay.plot import CURVES, POINTS, Curve, Panel, bars, figure, panels, thinned

LAYOUT = Layout.of(
    [
        ("x", dtypes.float32, (2,), "m"),
        ("pose", dtypes.vec3, (5,), ""),
        ("speed", dtypes.float64, (), "m/s"),
        ("none", dtypes.float32, (0,), ""),
        ("unread", dtypes.float32, (1,), ""),
    ]
)


def test_fields_become_panels():
    n = 10
    values = {field.name: np.random.default_rng(0).random((n, *field.numpy_shape)) for field in list(LAYOUT)[:4]}
    found = panels(History(np.arange(n) * 1e-3, values), LAYOUT)
    assert [panel.title for panel in found] == ["x", f"pose (the first {CURVES} of 15)", "speed"]
    assert [panel.unit for panel in found] == ["m", "", "m/s"]
    assert [curve.name for curve in found[0].curves] == ["[0]", "[1]"]
    assert found[1].curves[3].name == "[1, 0]"
    np.testing.assert_array_equal(found[1].curves[3].values, values["pose"][:, 1, 0])
    assert [curve.name for curve in found[2].curves] == [""]


def test_curves_of_one_name_have_one_colour_and_place_in_the_legend():
    seconds = np.arange(3.0)
    curves = [Curve("a", seconds, seconds), Curve("b", seconds, -seconds)]
    shown = [Panel(title, "m", curves) for title in ("one", "two")]
    drawn = figure(shown)
    assert [trace.showlegend for trace in drawn.data] == [True, True, False, False]
    assert [trace.line.color for trace in drawn.data[:2]] == [trace.line.color for trace in drawn.data[2:]]
    assert {note.text for note in drawn.layout.annotations} == {"one", "two"}
    figure([Panel(str(number), "", [Curve("", seconds, seconds)]) for number in range(60)])  # also many


def test_thinning_keeps_peaks_and_ends():
    values = np.zeros(50_001)
    values[[7, 31_234]] = 5.0, -3.0
    seconds = np.arange(len(values)) * 1e-3
    x, y = thinned(seconds, values)
    assert len(x) <= POINTS + POINTS // 2
    assert (y.max(), y.min()) == (5.0, -3.0)
    assert (x[0], x[-1]) == (seconds[0], seconds[-1])
    assert (np.diff(x) > 0).all()
    assert thinned(seconds[:10], values[:10])[1] is not None
    assert len(thinned(seconds[:10], values[:10])[0]) == 10


def test_bars_count_every_value():
    counts = np.zeros(3776, np.uint64)
    counts[[0, 70, 300, 301]] = 1, 2, 3, 4
    told = Distribution.of(counts, 1000, 10**6)
    drawn = bars({"lateness": told.filled}, "µs", 1e-3)
    assert sum(drawn.data[0].y) == 10
    assert drawn.data[0].x[0] == -3.0  # 0 ns stands with 1 ns, and the axis is the power of ten
