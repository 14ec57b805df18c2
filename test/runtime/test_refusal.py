import numpy as np
import pytest

from sim_node import dtypes
from sim_node.errors import LaunchError
from sim_node.runtime.cell import Cell
from sim_node.runtime.creation import zeros
from sim_node.runtime.launch import launch

COPY = [
    (
        lambda: ([zeros(1)], [np.zeros((4, 3))]),
        "kernel 'copy': argument 'y' expects array<f32> but got a numpy array of float64 and shape (4, 3): "
        "its dtype differs\n  instead: convert it once, with sn.array(y, dtype='f32')",
    ),
    (
        lambda: ([zeros(1, dtypes.vec3)], [zeros(1)]),
        "kernel 'copy': argument 'x' expects array<f32> but got an array<vec3f> of shape (1,): its dtype differs\n"
        "  instead: convert it once, with sn.array(x, dtype='f32')",
    ),
    (
        lambda: ([[1.0, 2.0]], [zeros(1)]),
        "kernel 'copy': argument 'x' expects array<f32> but got list [1.0, 2.0]\n"
        "  instead: make an array of it once, with sn.array(x, dtype='f32')",
    ),
    (
        lambda: ([Cell(float, 3)], [zeros(1)]),
        "kernel 'copy': argument 'x' expects array<f32> but got a cell of f32 and shape (3,): a cell has an "
        "address only inside a plan\n  instead: pass an array, or record the launch with Plan.launch",
    ),
    (
        lambda: ([zeros(1)], []),
        "kernel 'copy': it takes 2 arguments (x, y), got 1: 1 in inputs and 0 in outputs",
    ),
    (
        lambda: (zeros(2), []),
        "kernel 'copy': inputs and outputs are lists or tuples, not Array and list",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), COPY)
def test_arrays(kernels, arguments, message):
    with pytest.raises(LaunchError) as caught:
        launch(kernels.copy, 1, *arguments())
    assert caught.value.args[0] == message


VALUES = [
    (dtypes.int32, 1.5, " expects i32 but got float 1.5\n  instead: convert it, with int(p)"),
    (dtypes.float32, "a", " expects f32 but got str 'a'\n  instead: convert it, with float(p)"),
    (dtypes.bool_, 1, " expects bool but got int 1\n  instead: convert it, with bool(p)"),
    (
        dtypes.int32,
        2**31,
        " expects i32 but got int 2147483648: the value is out of range\n"
        "  instead: pass a value that i32 holds, or widen the kernel's parameter",
    ),
    (
        dtypes.vec3,
        (1, 2),
        " expects vec3f but got tuple (1, 2): the number of its parts differs\n  instead: pass 3 of them",
    ),
    (
        dtypes.vec3,
        1,
        " expects vec3f but got a single value, int 1\n"
        "  instead: pass a tuple, list or numpy array of 3 numbers, or sn.vec3f(…)",
    ),
]


@pytest.mark.parametrize(("element", "value", "message"), VALUES)
def test_values(echo, element, value, message):
    with pytest.raises(LaunchError) as caught:
        launch(echo(("p", element)), 1, [zeros(2, dtypes.uint64), value])
    assert caught.value.args[0] == f"kernel 'echo': argument 'p'{message}"


INNER = dtypes.Struct("Body", (("x", dtypes.ArrayType(dtypes.float32, 1, "strided")), ("v", dtypes.vec3)))
BODY = dtypes.Struct("Body", (("mass", dtypes.float32), ("inner", INNER)))
BODIES = [
    (
        None,
        " expects Body but got None\n  instead: pass one, such as Body(), or a tuple of all of",
    ),
    (
        (1.0,),
        " expects Body but got tuple (1.0,): the number of its parts differs\n  instead: pass 2 of them",
    ),
    (("a", None), ", field 'mass' expects f32 but got str 'a'\n  instead: convert it, with float(mass)"),
    (
        (1.0, (np.zeros(2), (1, 2, 3))),
        ", field 'inner', field 'x' expects array<f32, 1, strided> but got a numpy array of float64 and "
        "shape (2,): "
        "its dtype differs",
    ),
    ((1.0, (None, (1, 2))), ", field 'inner', field 'v' expects vec3f but got tuple (1, 2)"),
]


@pytest.mark.parametrize(("value", "message"), BODIES, ids=str)
def test_structs(echo, value, message):
    with pytest.raises(LaunchError) as caught:
        launch(echo(("p", BODY)), 1, [zeros(2, dtypes.uint64), value])
    assert caught.value.args[0].startswith(f"kernel 'echo': argument 'p'{message}")


def test_a_long_value_is_cut(echo):
    with pytest.raises(LaunchError) as caught:
        launch(echo(("p", dtypes.int32)), 1, [zeros(2, dtypes.uint64), "a" * 10_000])
    assert len(str(caught.value)) < 250
