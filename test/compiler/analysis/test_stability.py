"""The criterion against eigenvalues, and every form in which authors write springs, dampers and contacts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sim_node as sn
from sim_node.compiler.analysis.stability import TOLERANCE, Loop
from sim_node.errors import StabilityWarning

pytestmark = pytest.mark.filterwarnings("ignore::sim_node.errors.StabilityWarning")

N = 8
Floats, Vectors = sn.array(dtype=float), sn.array(dtype=sn.vec3)


def found(*launches, dtype=sn.float32, arrays=2):
    """What a plan of these launches, (kernel, scalars…), warns of; each takes the same arrays first."""
    plan, memory = sn.Plan(), [sn.zeros(N, dtype=dtype) for _ in range(arrays)]
    for kernel, *scalars in launches:
        plan.launch(kernel, N, [*memory, *scalars])
    plan.freeze()
    return plan.warnings


@sn.kernel
def semi_implicit(x: Floats, v: Floats, k: float, c: float, dt: float):
    i = sn.tid()
    v[i] = v[i] + dt * (-k * x[i] - c * v[i])
    x[i] = x[i] + dt * v[i]


@sn.kernel
def explicit(x: Floats, v: Floats, k: float, c: float, dt: float):
    i = sn.tid()
    moved = x[i] + dt * v[i]
    v[i] -= dt * (k * x[i] + c * v[i])
    x[i] = moved


@sn.kernel
def drift_kick(x: Floats, v: Floats, k: float, c: float, dt: float):
    i = sn.tid()
    x[i] += dt * v[i]
    v[i] += dt * (-k * x[i] - c * v[i])


@sn.kernel
def verlet(x: Floats, v: Floats, k: float, c: float, dt: float):
    i = sn.tid()
    half = v[i] - 0.5 * dt * k * x[i]
    x[i] += dt * half
    v[i] = half - 0.5 * dt * k * x[i] + 0.0 * c


@sn.kernel
def vectors(x: Vectors, v: Vectors, k: float, c: float, dt: float):
    i = sn.tid()
    v[i] += dt * (-k * x[i] - c * v[i])
    x[i] += dt * v[i]


@pytest.mark.parametrize(
    ("kernel", "k", "c", "number"),
    [
        (semi_implicit, 399.0, 0.0, None),
        (semi_implicit, 576.0, 0.0, "dt·√(k/m) = 2.4 > 2"),
        (semi_implicit, 401.0, 0.0, "dt·√(k/m) = 2.002 > 2"),
        (semi_implicit, 379.0, 1.0, None),
        (semi_implicit, 381.0, 1.0, "dt·√(k/m) = 1.952 > 1.949 with dt·c/m = 0.1"),
        (semi_implicit, 100.0, 16.0, "dt·√(k/m) = 1 > 0.894 with dt·c/m = 1.6"),
        (semi_implicit, 4.0, 21.0, "dt·c/m = 2.1 > 2"),
        (semi_implicit, 0.0, 21.0, "dt·c/m = 2.1 > 2"),
        (semi_implicit, 0.0, 19.0, None),
        (semi_implicit, -100.0, 0.0, None),  # a pendulum upside down falls: no fault
        (semi_implicit, 4.0, -1.0, None),  # a motor, not the method, puts energy in
        (explicit, 4.0, 0.0, "dt·√(k/m) = 0.2 > 0, by the explicit Euler method"),
        (explicit, 4.0, 0.3, "dt·√(k/m) = 0.2 > 0.173 with dt·c/m = 0.03, by the explicit Euler method"),
        (explicit, 4.0, 0.5, None),
        (explicit, -4.0, 0.0, None),
        (drift_kick, 399.0, 0.0, None),
        (drift_kick, 576.0, 0.0, "dt·√(k/m) = 2.4 > 2"),
        (verlet, 399.0, 0.0, None),
        (verlet, 576.0, 0.0, "dt·√(k/m) = 2.4 > 2"),
    ],
)
def test_closed_forms(kernel, k, c, number):
    warned = found((kernel, k, c, 0.1))
    assert [each.what.partition(": ")[2] for each in warned] == ([number] if number else [])


def test_a_warning_says_where_and_what_to_do():
    (warned,) = found((semi_implicit, 576.0, 0.0, 0.1))
    assert warned.location.text.strip() == "v[i] = v[i] + dt * (-k * x[i] - c * v[i])"
    assert warned.location.file == __file__
    assert warned.remedy.startswith("the largest stable dt is 0.0833, and this is 0.1")
    assert str(warned).startswith(f"{__file__}:{warned.location.line}:5: unstable spring-damper loop: dt·√(k/m)")
    assert not found((semi_implicit, 576.0, 0.0, 0.0833))
    assert "c ≥ dt·k = 0.4 m" in found((explicit, 4.0, 0.0, 0.1))[0].remedy
    (damped,) = found((explicit, 4.0, 0.3, 0.1))
    assert damped.remedy.startswith("a dt below 0.075")
    assert not found((explicit, 4.0, 0.3, 0.0749))


def test_vectors():
    assert not found((vectors, 399.0, 0.0, 0.1), dtype=sn.vec3)
    assert len(found((vectors, 401.0, 0.0, 0.1), dtype=sn.vec3)) == 1


@sn.kernel
def chain(x: Floats, v: Floats, f: Floats, k: float, n: int):
    i = sn.tid()
    force = 0.0
    if i > 0:
        force += k * (x[i - 1] - x[i])
    if i < n - 1:
        force -= k * (x[i] - x[i + 1])
    f[i] = force + 0.0 * v[i]


@sn.kernel
def integrate(x: Floats, v: Floats, f: Floats, m: float, dt: float):
    i = sn.tid()
    v[i] += dt * f[i] / m
    x[i] += dt * v[i]


@sn.kernel
def drift(x: Floats, v: Floats, f: Floats, dt: float):
    i = sn.tid()
    x[i] += dt * v[i] + 0.0 * f[i]


@sn.kernel
def kick(x: Floats, v: Floats, f: Floats, m: float, dt: float):
    i = sn.tid()
    v[i] += dt * f[i] / m + 0.0 * x[i]


@pytest.mark.parametrize("k", [99.0, 101.0])  # dt √(4 k/m) against 2
def test_springs_between_neighbours_in_two_kernels(k):
    assert len(found((chain, k, N), (integrate, 1.0, 0.1), arrays=3)) == (k > 100.0)
    assert len(found((drift, 0.1), (chain, k, N), (kick, 1.0, 0.1), arrays=3)) == (k > 100.0)


@sn.kernel
def contact_if(x: Floats, v: Floats, k: float, c: float, dt: float):
    i = sn.tid()
    force = -9.81
    if x[i] < 0.0:
        force += -k * x[i] - c * v[i]
    v[i] += dt * force
    x[i] += dt * v[i]


@sn.kernel
def contact_ternary(x: Floats, v: Floats, k: float, c: float, dt: float):
    i = sn.tid()
    force = -k * x[i] - c * v[i] if x[i] < 0.0 else 0.0
    v[i] += dt * (force - 9.81)
    x[i] += dt * v[i]


@sn.kernel
def contact_max(x: Floats, v: Floats, k: float, c: float, dt: float):
    i = sn.tid()
    v[i] += dt * (sn.max(0.0, -k * x[i] - c * v[i]) - 9.81)
    x[i] += dt * v[i]


@sn.kernel
def contact_store(x: Floats, v: Floats, k: float, c: float, dt: float):
    i = sn.tid()
    v[i] = v[i] - dt * 9.81
    if x[i] < 0.0:
        v[i] = v[i] - dt * (k * x[i] + c * v[i])
    x[i] += dt * v[i]


@pytest.mark.parametrize("kernel", [contact_if, contact_ternary, contact_max, contact_store])
def test_contacts(kernel):
    assert not found((kernel, 399.0, 0.0, 0.1))
    (warned,) = found((kernel, 576.0, 0.0, 0.1))
    assert warned.what == "unstable penalty contact: dt·√(k/m) = 2.4 > 2"


@sn.kernel
def selectable(x: Floats, v: Floats, k: float, dt: float, stiff: bool):
    i = sn.tid()
    if stiff:
        v[i] -= dt * 100.0 * k * x[i]
    else:
        v[i] -= dt * k * x[i]
    x[i] += dt * v[i]


def test_a_branch_that_no_thread_takes_is_not_judged():
    assert not found((selectable, 100.0, 0.1, False))
    assert found((selectable, 100.0, 0.1, True))


@sn.kernel
def pendulum(x: Floats, v: Floats, k: float, dt: float):
    i = sn.tid()
    v[i] -= dt * k * sn.sin(x[i])
    x[i] += dt * v[i]


@sn.kernel
def looped(x: Floats, v: Floats, k: float, dt: float, n: int):
    i = sn.tid()
    force = 0.0
    for j in range(n):
        force -= k * (x[i] - x[j])
    v[i] += dt * force
    x[i] += dt * v[i]


@sn.kernel
def gathered(x: Floats, v: Floats, k: float, dt: float, n: int):
    i = sn.tid()
    for _ in range(n):
        v[i] -= dt * k * x[i]
        x[i] += dt * v[i]


@sn.kernel
def added(x: Floats, v: Floats, k: float, dt: float):
    i = sn.tid()
    sn.atomic_max(v, i, -dt * k * x[i])
    x[i] += dt * v[i]


def test_what_cannot_be_traced_is_not_judged():
    assert not found((pendulum, 1e6, 0.1))
    assert not found((looped, 1e6, 0.1, N))
    assert not found((gathered, 1e6, 0.1, 3))
    assert not found((added, 1e6, 0.1), (semi_implicit, 576.0, 0.0, 0.1))


def test_python_shows_it_at_the_line_of_the_kernel():
    with pytest.warns(StabilityWarning, match="= 2.4 > 2") as said:
        found((semi_implicit, 576.0, 0.0, 0.1))
    assert said[0].filename == __file__
    assert said[0].lineno == semi_implicit.function.__code__.co_firstlineno + 3


@given(st.floats(0.01, 30.0), st.floats(0.0, 3.0), st.booleans())
def test_the_criterion_is_that_of_the_eigenvalues(square, damping, semi):
    c, d = -square, 1.0 - damping
    loop = Loop(1.0 + c, d, c, d) if semi else Loop(1.0, 1.0, c, d)
    radius = max(abs(np.linalg.eigvals([[loop.a, loop.b], [c, d]])))
    if abs(radius - 1.0) > 1e-4:
        assert (loop.excess > TOLERANCE) == (radius > 1.0)
    assert loop.is_restoring or loop.b == 0.0
