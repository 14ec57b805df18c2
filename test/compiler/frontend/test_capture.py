"""What kernels capture."""

import enum
import math
from types import SimpleNamespace

import numpy as np
import pytest
from interpreter import run

import sim_node as sn
from sim_node.compiler.frontend import lower
from sim_node.errors import BuildAttributeError, BuildNameError, BuildTypeError, UnsupportedError


class Mode(enum.IntEnum):
    FAST = 7


class Thing:
    v = 1.0

    def twice(self, x):
        return self.v * x


@pytest.mark.parametrize(
    ("expression", "names", "wanted"),
    [
        ("d[0] + g", {"g": 0.1}, 0.1),
        ("d[0] + g", {"g": np.float64(0.1)}, 0.1),
        ("sn.float64(s * g)", {"g": np.float32(0.1)}, float(np.float32(0.5) * np.float32(0.1))),
        ("sn.float64(n * g)", {"g": 4}, 12.0),
        ("sn.float64(sn.int64(n) * g)", {"g": np.int64(2**40)}, 3.0 * 2**40),
        ("sn.float64(n * mode)", {"mode": Mode.FAST}, 21.0),
        ("1.0 if g else 2.0", {"g": False}, 2.0),
        ("sn.float64(1.0 if g and flag else 2.0)", {"g": np.bool_(True)}, 1.0),
        ("g[1][0] * 0.5", {"g": (1, (2.0, True))}, 1.0),
        ("m.pi + m.tau", {"m": math}, math.pi + math.tau),
        ("sn.float64(g.y + len(g))", {"g": sn.vec3(1.0, 2.0, 3.0)}, 5.0),
        ("mode.FAST.value + g.v", {"mode": Mode, "g": SimpleNamespace(v=0.5)}, 7.5),
        ("g.inner.pi * g.half", {"g": SimpleNamespace(inner=math, half=0.5)}, math.pi / 2),
        ("Thing.v + 1.0", {"Thing": Thing}, 2.0),
        ("g[0] + g[1]", {"g": np.array([0.1, 0.2])}, 0.1 + 0.2),
        ("real(n) * 0.1", {"real": sn.float64}, 3.0 * 0.1),
    ],
)
def test_constants(kernel, expression, names, wanted):
    d = np.zeros(1)
    run(lower(kernel(f"d[0] = {expression}", **names)), [
        np.zeros(1, np.float32), d, np.zeros(1, np.int32), np.zeros((1, 3), np.float32), 3, np.float32(0.5), True,
    ])  # fmt: skip
    assert d[0] == wanted


@pytest.mark.parametrize(
    ("body", "family", "what", "remedy", "names"),
    [
        (
            "x[0] = ¦g[0]",
            UnsupportedError,
            "'g' is an array outside of the kernel",
            "as a parameter",
            {"g": np.zeros(9)},
        ),
        (
            "x[0] = ¦g",
            UnsupportedError,
            "'g' is of type str: kernels capture",
            "under a name of its own",
            {"g": "text"},
        ),
        (
            "x[0] = ¦g.vv",
            BuildAttributeError,
            "`vv` is not an attribute of the 'Thing'",
            "did you mean g.v?",
            {"g": Thing()},
        ),
        ("x[0] = ¦g", UnsupportedError, "'g' is of type Thing", "under a name of its own", {"g": Thing()}),
        ("x[0] = ¦g.twice(s)", UnsupportedError, "'g.twice' is a method of an object", "an @sn.func", {"g": Thing()}),
        ("x[0] = ¦g[0]", UnsupportedError, "'g' is of type list", "sn.static(g[…])", {"g": [1.0]}),
        ("x[0] = ¦g[1]", UnsupportedError, "'g[1]' is of type str", "under a name of its own", {"g": (1, "b")}),
        ("d[0] = ¦np.float64(x[0])", UnsupportedError, "'np.float64' is a type of numpy's", "sn.float64(x)", {}),
        ("x[0] = ¦np.dot(p[0], p[0])", UnsupportedError, "'np.dot' is Python code", "sn.dot", {}),
        ("x[0] = ¦np.sqrt(x[0])", UnsupportedError, "'np.sqrt' is Python code", "sn.sqrt", {}),
        ("x[0] = ¦g", BuildTypeError, "'g' is a float128", "one of bool, i8", {"g": np.longdouble(1)}),
        ("¦k(x)", UnsupportedError, "'k' is a kernel, and kernels do not call kernels", "@sn.func", {}),
        ("x[0] = ¦g.sin(s)", UnsupportedError, "'g.sin' is Python code that cannot be", "sn.sin", {"g": math}),
        ("x[0] = ¦g.arctan(s)", UnsupportedError, "'g.arctan' is Python code", "sn.atan", {"g": np}),
        (
            "x[0] = ¦sn.sqr(s)",
            BuildAttributeError,
            "`sqr` is not an attribute of module 'sim_node'",
            "did you mean sn.sqrt?",
            {},
        ),
        (
            "x[0] = ¦g.tauu",
            BuildAttributeError,
            "`tauu` is not an attribute of module 'math'",
            "did you mean g.tau?",
            {"g": math},
        ),
        ("x[0] = ¦vec3(s)[0]", BuildNameError, "Referencing undefined symbol: vec3", "sn.vec3", {}),
        ("x[0] = ¦sn.foo.bar(s)", BuildAttributeError, "`foo` is not an attribute of module 'sim_node'", "sn.fl", {}),
        ("x[0] = ¦sn.types.sqt(s)", BuildAttributeError, "Could not find function sn.types.sqt: `sqt`", "", {}),
        ("x[0] = ¦lenn(x)", BuildNameError, "undefined symbol: lenn", "did you mean len?", {}),
        ("a[0] = ¦g", BuildTypeError, "10000000000 cannot be i32", "wider type", {"g": 10**10}),
        ("x[0] = ¦g(s)", UnsupportedError, "'g' is Python code", "@sn.func", {"g": Thing}),
    ],
)
def test_refused(refusal, body, family, what, remedy, names):
    refusal(body, family, what, remedy, **names)


def test_closures_are_read_when_lowered():
    gain = 2.0

    @sn.kernel
    def k(x: sn.dtypes.ArrayType(sn.float32)):
        x[0] = gain

    def written():
        x = np.zeros(1, np.float32)
        run(lower(k), [x])
        return x[0]

    assert written() == 2.0
    gain = 3.0
    assert written() == 3.0


@sn.struct
class Link:
    at: sn.vec3
    fixed: bool


@sn.struct
class Chain:
    link: Link
    mass: sn.float16
    forces: sn.array[float]


@sn.struct
class Body:
    link: Link
    mass: sn.float16


def test_instances_of_structs_are_their_fields():
    body = Body(Link((1, 2, 3), True), 0.5)

    @sn.kernel
    def k(out: sn.array[Body]):
        mine = body
        mine.link.at.x += 1.0
        out[0] = mine
        out[1] = body

    for device in ("cpu", "python"):
        out = sn.zeros(2, dtype=Body)
        sn.launch(k, 1, inputs=[out], device=device)
        assert out.list() == [Body(Link((2, 2, 3), True), 0.5), body]


def test_arrays_in_instances_of_structs_stay_outside():
    chain = Chain(forces=sn.zeros(1))

    @sn.kernel
    def k(out: sn.array[float]):
        mine = chain
        out[0] = float(mine.mass)

    with pytest.raises(BuildTypeError, match=r"'chain\.forces' is an array outside of the kernel"):
        sn.launch(k, 1, inputs=[sn.zeros(1)])
