"""Each function of the math library gives the one f32 nearest to the true value, the same bits however it is run."""

import json
from pathlib import Path

import numpy as np
import pytest

import sim_node as sn
from sim_node.errors import BuildTypeError
from sim_node.lang.library import MATH

EVERY = pytest.mark.parametrize("name", MATH)


@pytest.fixture(scope="module")
def proving():
    pytest.importorskip("gmpy2", reason="the reference is MPFR's")
    from scripts import prove_math

    return prove_math


@EVERY
def test_hard_and_special_inputs(name, proving, hard, apply):
    x = hard(name)
    wanted = np.array([proving.true_value(name, float(value)) for value in x], np.float32)
    np.testing.assert_array_equal(apply(name, x), proving.canonical(wanted))


@EVERY
def test_a_sample_of_all_inputs(name, proving, sample, apply):
    wanted, undecided = proving.reference(name, sample)
    for i in undecided.tolist():
        wanted[i] = proving.true_value(name, float(sample[i]))
    np.testing.assert_array_equal(apply(name, sample), proving.canonical(wanted))


@EVERY
def test_the_same_bits_at_every_level(name, hard, sample, apply):
    x = np.concatenate([hard(name), sample])
    np.testing.assert_array_equal(apply(name, x, level=0), apply(name, x, level=3))


@EVERY
def test_the_same_bits_with_no_fused_product(name, proving, hard, sample, apply):
    x = np.concatenate([hard(name), sample])
    np.testing.assert_array_equal(apply(name, x, features=proving.UNFUSED), apply(name, x))


@EVERY
def test_the_same_bits_in_plain_python(name, hard, sample, apply):
    x = np.concatenate([hard(name), sample[::700]])
    with np.errstate(all="ignore"):
        plain = [getattr(sn, name)(value) for value in x]
    assert {type(value) for value in plain} == {np.float32}
    plain = np.where(np.isnan(plain), np.float32(np.nan), plain)
    np.testing.assert_array_equal(plain.view(np.uint32), apply(name, x))


def test_every_function_has_hard_inputs_and_a_proof():
    root = Path(__file__).parents[3]
    proofs = json.loads((root / "docs" / "measurements" / "math_proofs.json").read_text("utf-8"))
    hard = json.loads((Path(__file__).parent / "hard_cases.json").read_text("utf-8"))
    assert set(proofs) == set(hard) == set(MATH)
    assert all(proof["inputs"] == 2**32 and proof["misrounded"] == 0 for proof in proofs.values())


@sn.kernel
def of_double(x: sn.array(dtype=sn.float64)):
    x[0] = sn.sin(x[0])


@sn.kernel
def of_whole(x: sn.array(dtype=int)):
    x[0] = int(sn.sin(x[0]))


@sn.kernel
def of_vector(x: sn.array(dtype=sn.vec3)):
    x[0] = sn.vec3(sn.sin(x[0]))


def test_what_takes_f64_gives_f64():
    x = np.array([2.0])
    sn.launch(of_double, 1, [], [x])
    assert x[0] == sn.sin(np.float64(2.0)) == np.sin(2.0)


@pytest.mark.parametrize(("kernel", "dtype"), [(of_whole, sn.int32), (of_vector, sn.vec3)])
def test_other_types_are_refused_with_advice(kernel, dtype):
    with pytest.raises(BuildTypeError, match="no overload of 'sin' takes") as refusal:
        sn.launch(kernel, 1, [], [sn.zeros(1, dtype)])
    assert "convert an argument" in str(refusal.value)


def test_a_literal_is_an_f32():
    out = sn.zeros(2)
    sn.launch(of_literals, 1, [], [out])
    assert out.numpy().tolist() == [float(sn.exp(np.float32(1))), float(sn.log(np.float32(0.1)))]


@sn.kernel
def of_literals(out: sn.array(dtype=float)):
    out[0] = sn.exp(1)
    out[1] = sn.log(0.1)


@pytest.mark.parametrize("name", [*MATH, "erfc", "erfinv", "erfcinv", "pow", "atan2", "hypot"])
def test_f16_is_f32_rounded_once_more(name):
    function, two = getattr(sn, name), name in ("pow", "atan2", "hypot")
    x = np.random.default_rng(9).integers(0, 2**16, 300).astype(np.uint16).view(np.float16)

    if two:

        @sn.kernel
        def each(x: sn.array[sn.float16], y: sn.array[sn.float16], wide: sn.array[sn.float32]):
            i = sn.tid()
            y[i] = function(x[i], sn.float16(0.7))
            wide[i] = function(sn.float32(x[i]), sn.float32(sn.float16(0.7)))
    else:

        @sn.kernel
        def each(x: sn.array[sn.float16], y: sn.array[sn.float16], wide: sn.array[sn.float32]):
            i = sn.tid()
            y[i] = function(x[i])
            wide[i] = function(sn.float32(x[i]))

    y, wide = np.zeros_like(x), np.zeros(len(x), np.float32)
    sn.launch(each, len(x), [x], [y, wide])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(y, wide.astype(np.float16))
        given = [function(value, np.float16(0.7)) if two else function(value) for value in x[:20]]
    assert {type(value) for value in given} == {np.float16}
    np.testing.assert_array_equal(given, y[:20])
