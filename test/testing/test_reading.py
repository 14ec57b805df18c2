"""What conditions and controllers see."""

import numpy as np

from sim_node.testing.reading import Reading


def test_a_single_value_is_a_number_and_each_is_read_once():
    asked = []

    def read(name):
        asked.append(name)
        return {"speed": np.array(3.0), "x": np.arange(3.0)}[name]

    t = Reading(read, 1500, 1_000_000)
    assert t["speed"] > 2
    assert isinstance(t["speed"], float)
    assert t["x"].tolist() == [0.0, 1.0, 2.0]
    assert asked == ["speed", "x"] == list(t.read)
    assert (t.step, t.time) == (1500, 1.5)
