"""Guards, run: what is not finite or too large is kept out of memory, and contacts push and never pull."""

import numpy as np
import pytest

import sim_node as sn
from sim_node.compiler.build import build
from sim_node.compiler.passes.guard import LIMIT
from sim_node.errors import BuildError

Floats, Vectors = sn.array(dtype=float), sn.array(dtype=sn.vec3)


def move(x: Floats, v: Floats, dt: float):
    i = sn.tid()
    x[i] = x[i] + dt * v[i]


def fall(x: Vectors, v: Vectors, dt: float):
    i = sn.tid()
    v[i] -= dt * sn.vec3(0.0, 0.0, 9.81)
    x[i] += dt * v[i]


def sum_up(x: Floats, v: Floats, dt: float):
    i = sn.tid()
    x[i] = v[i] + dt


def launched(function, x, v, dt=1.0, guards="clamp"):
    x, v = sn.array(x), sn.array(v)
    sn.launch(sn.kernel(guards=guards)(function), len(x), [x, v, dt])
    return x.numpy().tolist()


def test_updates_stay_bounded_and_finite():
    x, v = [1.0, 1.0, 1.0, 1.0, 2.0], [2.0, np.nan, np.inf, -3e20, -0.0]
    assert launched(move, x, v) == [3.0, 1.0, LIMIT, -LIMIT, 2.0]
    assert np.isnan(launched(move, x, v, guards=None)[1])


def test_each_component_of_a_vector_is_guarded():
    x, v = [[1.0, 1.0, 1.0]], [[np.nan, 1e30, 9.81]]
    kernel, x, v = sn.kernel(guards="clamp")(fall), sn.array(x, dtype=sn.vec3), sn.array(v, dtype=sn.vec3)
    sn.launch(kernel, 1, [x, v, 1.0])
    assert x.numpy().tolist() == [[1.0, LIMIT, 1.0]]
    assert np.isnan(v.numpy()[0, 0])  # it was so before
    assert v.numpy()[0, 1] == LIMIT


def floor_if(x: Floats, v: Floats, dt: float):
    i = sn.tid()
    force = 0.0
    if x[i] < 0.0:
        force += -100.0 * x[i] - 50.0 * v[i]
    x[i] = force


def floor_ternary(x: Floats, v: Floats, dt: float):
    i = sn.tid()
    x[i] = -100.0 * x[i] - 50.0 * v[i] if x[i] < 0.0 else 0.0


def floor_depth(x: Floats, v: Floats, dt: float):
    i = sn.tid()
    depth = 0.0 - x[i]
    x[i] = 0.0 if depth <= 0.0 else 100.0 * depth - 50.0 * v[i]


def floor_difference(x: Floats, v: Floats, dt: float):
    i = sn.tid()
    x[i] = 100.0 * (0.0 * dt - x[i]) - 50.0 * v[i] if x[i] < 0.0 * dt else 0.0


def ceiling(x: Floats, v: Floats, dt: float):
    i = sn.tid()
    x[i] = -100.0 * x[i] - 50.0 * v[i] if x[i] > 0.0 else 0.0


def test_a_ceiling_pushes_down():
    x, v = [1.0, 1.0, 1.0], [0.0, -1.0, -3.0]
    assert launched(ceiling, x, v) == [-100.0, -50.0, 0.0]


@pytest.mark.parametrize("function", [floor_if, floor_ternary, floor_depth, floor_difference])
def test_a_contact_pushes_and_never_pulls(function):
    x, v = [-1.0, -1.0, -1.0, 1.0], [0.0, 1.0, 3.0, 3.0]
    assert launched(function, x, v) == [100.0, 50.0, 0.0, 0.0]
    assert launched(function, x, v, guards=None) == [100.0, 50.0, -50.0, 0.0]


def drag(x: Floats, v: Floats, dt: float):
    i = sn.tid()
    x[i] = -100.0 * dt - 50.0 * v[i] if x[i] < 0.0 else 0.0


def test_what_is_no_contact_and_no_update_stays_as_it_is():
    for function in (drag, sum_up):
        assert launched(function, [-1.0, 1.0], [3e10, 1.0]) == launched(function, [-1.0, 1.0], [3e10, 1.0], guards=None)


def test_guards_are_part_of_the_digest_and_off_by_default():
    on, off = (build(sn.kernel(guards=guards)(move)).digest for guards in ("clamp", None))
    assert on != off
    assert build(sn.kernel(move)).digest == off


def test_the_device_python_refuses_what_it_does_not_guard():
    with pytest.raises(BuildError, match="guards"):
        sn.launch(sn.kernel(guards="clamp")(move), 1, [sn.zeros(1), sn.zeros(1), 1.0], device="python")
    with pytest.raises(BuildError, match=r"option guards .* is 'hold'"):
        sn.kernel(guards="hold")(move)
