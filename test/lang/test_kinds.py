"""A parameter may take any scalar of a kind, and overloads choose by kind."""

import numpy as np
import pytest

import sim_node as sn
from sim_node.errors import BuildTypeError


@sn.func
def halve(x: sn.Int):
    return x // 2


@sn.func
def halve(x: sn.Float):  # noqa: F811
    return x / 2.0


@sn.func
def keep(x: sn.Float):
    return x


def run(dtype, function):
    @sn.kernel
    def k(x: sn.array[dtype], out: sn.array[dtype]):
        i = sn.tid()
        out[i] = function(x[i])

    x = np.array([7, 8], dtype.numpy)
    out = np.zeros_like(x)
    sn.launch(k, 2, inputs=[x], outputs=[out])
    return list(out)


@pytest.mark.parametrize("dtype", [sn.int32, sn.uint32, sn.int64, sn.uint64], ids=repr)
def test_integers_choose_theirs(dtype):
    assert run(dtype, halve) == [3, 4]


@pytest.mark.parametrize("dtype", [sn.float32, sn.float64], ids=repr)
def test_floats_choose_theirs(dtype):
    assert run(dtype, halve) == [3.5, 4]


def test_literals_choose_theirs():
    @sn.kernel
    def k(out: sn.array[float]):
        out[0] = float(halve(7))
        out[1] = halve(7.0)
        out[2] = keep(7)

    out = np.zeros(3, np.float32)
    sn.launch(k, 1, outputs=[out])
    assert list(out) == [3.0, 3.5, 7.0]


def test_another_kind_is_refused():
    with pytest.raises(BuildTypeError, match="'x' of 'keep' takes any Float, and gets i32"):
        run(sn.int32, keep)


def test_a_kind_knows_its_scalars():
    for scalar in sn.dtypes.SCALARS:
        kinds = [kind for kind in (sn.Int, sn.Float) if kind.takes(scalar)]
        assert len(kinds) == sn.Scalar.takes(scalar) == (scalar is not sn.dtypes.bool_)
    assert not sn.Scalar.takes(sn.vec3)


def test_plain_python_chooses_by_kind_too():
    @sn.func
    def other(x: sn.Int):
        return "int"

    @sn.func
    def other(x):  # noqa: F811
        return "any"

    assert [other(np.int32(1)), other(np.float32(1)), other(sn.vec2(1.0, 2.0))] == ["int", "any", "any"]
