"""The bench of the math library measures every function, and knows a vectorised loop from one that is not."""

import sim_node as sn
from sim_node.cli.benches import math
from sim_node.lang.library import MATH


@sn.kernel
def halved_until_small(x: sn.array(dtype=sn.float64)):
    i = sn.tid()
    while x[i] > 1.0:
        x[i] = x[i] / 2.0


@sn.kernel
def doubled(x: sn.array(dtype=sn.float64)):
    i = sn.tid()
    x[i] = x[i] * 2.0


def test_vectorised_or_not():
    assert (math.vectorised(doubled), math.vectorised(halved_until_small)) == (True, False)


def test_every_function_is_measured_and_vectorised(monkeypatch):
    monkeypatch.setattr(
        math, "alternated_us", lambda calls, **_: {who: (call(), 2000.0)[1] for who, call in calls.items()}
    )
    measured = math.run()
    assert set(measured.ratios) == {f"{name}_vs_numpy" for name in MATH if name != "erf"}
    assert all(measured.figures[f"{name}_vectorised"] for name in MATH)
    assert measured.figures["sin_ns"] == measured.peers["numpy"]["sin_ns"] == 2.0
