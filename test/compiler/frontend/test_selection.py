"""Parts of composite values by index, slice and attribute, read and written, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

import sim_node as sn
from sim_node import dtypes
from sim_node.compiler.frontend import lower
from sim_node.errors import BuildAttributeError, BuildError, BuildValueError, UnsupportedError

MATRIX = dtypes.Matrix(dtypes.float32, 3, 4)
VECTOR = dtypes.Vector(dtypes.float32, 5)
PARTS = {
    MATRIX: ["1, 2", "-1, -2", "2", "i", "i, 2", "1, j", "i, j", "0:2", "1, 1:3", ":, 1", ":, j", "0:2, ::2", "1:, 3"],
    VECTOR: ["3", "-1", "i", "1:3", "::2", "-2:", "::-1"],
    dtypes.Quaternion(dtypes.float32): ["0", "i", "1:3"],
}
CASES = [(kind, part) for kind, parts in PARTS.items() for part in parts]


@pytest.mark.parametrize(("kind", "part"), CASES, ids=lambda one: repr(one))
@pytest.mark.parametrize("owner", ["variable", "memory"])
def test_reading_and_writing(written, execute, kind, part, owner):
    i, j = 2, 3
    values = np.arange(kind.length, dtype=np.float32).reshape(kind.shape)
    picked = eval(f"values[{part}]")
    shape = np.shape(picked)
    taken = (
        dtypes.float32 if not shape
        else dtypes.Vector(dtypes.float32, *shape) if len(shape) == 1 else dtypes.Matrix(dtypes.float32, *shape)
    )  # fmt: skip
    source = "m" if owner == "variable" else "all[0]"
    change = f"m[{part}] = new\n    all[0] = m" if owner == "variable" else f"all[0][{part}] = new"
    made = written(
        "@sn.kernel\ndef k(all: sn.array(dtype=W), got: sn.array(dtype=P), given: sn.array(dtype=P), i: int, j: int):\n"
        f"    m = all[0]\n    new = given[0]\n    got[0] = {source}[{part}]\n    {change}\n",
        W=kind, P=taken,
    )["k"]  # fmt: skip
    memory, got, new = values[None].copy(), np.zeros((1, *shape), "f4"), -np.ones((1, *shape), "f4")
    assert execute(lower(made), 1, memory, got, new, i, j).code == 0
    np.testing.assert_array_equal(got[0], picked)
    want = values.copy()
    exec(f"want[{part}] = new[0]")
    np.testing.assert_array_equal(memory[0], want)


def test_a_run_time_index_outside_stops_the_thread(written, execute):
    made = written("@sn.kernel\ndef k(v: sn.array(dtype=sn.vec3), i: int):\n    a = v[0]\n    v[0][i] = a[i]\n")["k"]
    v = np.zeros((1, 3), np.float32)
    assert [execute(lower(made), 1, v, i).code for i in (-1, 0, 2, 3)] == [1, 0, 0, 1]


@pytest.mark.parametrize(
    ("part", "what"),
    [
        ("m[3, 0]", "3"),
        ("m[-4, 0]", "4"),
        ("m[0, 0, 0]", "indices"),
        ("m.x", "'x'"),
        ("q.p", "'p'"),
        ("t.x", "p and q"),
    ],
)
def test_what_there_is_not(written, part, what):
    made = written(
        f"@sn.kernel\ndef k(s: float):\n    m = sn.mat33()\n    q = sn.quat()\n    t = sn.transform()\n    a = {part}\n"
    )["k"]
    with pytest.raises(BuildError) as caught:
        lower(made)
    assert what in caught.value.what


def test_parts_of_a_transform_change_it_alone(written, execute):
    made = written(
        "@sn.kernel\ndef k(t: sn.array(dtype=sn.transform), out: sn.array(dtype=sn.transform)):\n"
        "    a = t[0]\n    b = a\n    b.p.y = 7.0\n    b.q.w += 1.0\n    out[0] = b\n    out[1] = a\n"
    )["k"]
    t, out = np.arange(7, dtype=np.float32)[None], np.zeros((2, 7), np.float32)
    assert execute(lower(made), 1, t, out).code == 0
    assert out.tolist() == [[0, 7, 2, 3, 4, 5, 7], t[0].tolist()]
    assert sn.transform.shape == (7,)


@pytest.mark.parametrize(
    ("statement", "family", "what"),
    [
        ("v = p[0][¦::0]", BuildValueError, "Slice step cannot be zero"),
        ("v = p[0][¦n:]", UnsupportedError, "a slice of a vector or matrix goes from number to number"),
    ],
)
def test_slices_that_the_build_must_know(refusal, statement, family, what):
    refusal(statement, family, what, "write numbers" if "number" in what else "")


def test_a_field_that_there_is_not(written):
    text = "@sn.struct\nclass Body:\n    mass: float\n\n@sn.kernel\ndef k(b: Body):\n    m = b.mas\n"
    with pytest.raises(BuildAttributeError, match="Body has no 'mas'; its fields are mass") as caught:
        lower(written(text)["k"])
    assert caught.value.remedy == "did you mean b.mass?"
