"""What a plan keeps for the stability pass, and what it costs."""

import sim_node as sn
from sim_node.runtime.program import load

Floats = sn.array(dtype=float)


@sn.struct
class Spring:
    """Its stiffness, mass and memory."""

    k: float
    m: float
    x: Floats


@sn.kernel
def pull(spring: Spring, v: Floats, dt: float):
    i = sn.tid()
    v[i] -= dt * spring.k / spring.m * spring.x[i]
    spring.x[i] += dt * v[i]


def found(k, layout=slice(None)):
    plan, spring = sn.Plan(), Spring()
    spring.k, spring.m, spring.x = k, 2.0, sn.zeros(8)
    plan.launch(pull, 4, [spring, sn.zeros(16)[layout], 0.1])
    plan.freeze()
    return plan.warnings


def test_parameters_and_arrays_in_structs_and_parts_of_arrays_are_known(recwarn):
    for layout in (slice(None), slice(0, 16, 2)):
        assert not found(798.0, layout)
        (warned,) = found(802.0, layout)
        assert warned.what.endswith("dt·√(k/m) = 2.002 > 2")
    assert len(recwarn) >= 1


def test_a_kernel_whose_source_is_gone_is_not_judged():
    scope = {"sn": sn, "Floats": Floats, "Spring": Spring}
    exec("def pull(spring: Spring, v: Floats, dt: float): pass", scope)
    gone = sn.kernel(scope["pull"])
    gone.entry = load(pull)
    plan, spring = sn.Plan(), Spring()
    spring.k, spring.m, spring.x = 802.0, 2.0, sn.zeros(8)
    plan.launch(gone, 4, [spring, sn.zeros(4), 0.1])
    plan.freeze()
    assert plan.warnings == []
