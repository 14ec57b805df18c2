import numpy as np
import pytest

from scripts.compare_devices import Side, device_case
from sim_node.plant import hashing

F32, F64, I8 = (device_case.NUMBERS[kind] for kind in ("f32", "f64", "i8"))


def case(expression, *operands, number=F32, name="a case"):
    return device_case.Case(name, operands, expression, number)


def mixed(words):
    """src/hash.h of words in a row."""
    z = np.array(words, np.uint64) + np.arange(1, len(words) + 1, dtype=np.uint64) * np.uint64(hashing.PHI)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(hashing.FIRST)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(hashing.SECOND)
    return int((z ^ (z >> np.uint64(31))).sum())


def test_a_hash_is_that_of_the_words_of_results():
    one = Side(case("sn.int32(a) if a < 0.0 else 3", "f32", name="one"), "cpu")
    words = [int(one.words(n)[1][0], 16) for n in range(700)]
    assert one.hash(0, 700) == mixed(words)
    assert (one.hash(0, 100) + one.hash(100, 600)) % 2**64 == one.hash(0, 700)
    assert 2**64 - 2**31 in words  # the sign of a negative integer goes on above it


def test_parts_of_results_count_by_their_places():
    sides = [Side(case(text, "V2", name=text), "cpu") for text in ("(a, 1)", "(sn.vector(a[1], a[0]), 1)", "(1, a)")]
    assert len({side.hash(0, 64) for side in sides}) == 3
    (x, y), result = sides[1].words(5)
    assert result == [y, x, "0x1"]


def test_all_inputs_come_once():
    one, two = case("a", "i8", number=I8, name="all"), case("a", "i8", "u8", number=I8, name="all pairs")
    for tried, step in ((one, 1), (two, 257)):
        side = Side(tried, "cpu")
        seen = {tuple(side.words(n)[0]) for n in range(0, tried.inputs, step)}
        assert len(seen) == len(range(0, tried.inputs, step))
    assert (one.inputs, two.inputs) == (2**8, 2**16)


def test_all_inputs_are_those_of_one_number_of_32_bits_or_less_and_of_more_of_16_in_all():
    assert case("a", "f32").inputs == 2**32
    assert case("a", "i8", "u8", number=I8).inputs == 2**16
    for one in (case("a", "f64", number=F64), case("a", "i16", "i16"), case("a", "V2")):
        assert (one.inputs, one.exhaustive) == (device_case.DRAWN, False)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_random_operands_are_often_special_near_each_other_and_around_1(kind):
    number, floats = device_case.NUMBERS[kind], {"f32": np.float32, "f64": np.float64}[kind]
    side = Side(case("a", kind, kind, number=number, name=f"random {kind}"), "cpu")
    pairs = [[int(word, 16) for word in side.words(n)[0]] for n in range(600)]
    whole = {"f32": np.uint32, "f64": np.uint64}[kind]
    first, second = np.array(pairs, np.uint64).astype(whole).view(floats).T
    assert np.isnan(first).any()
    assert np.isinf(first).any()
    assert (first == 0).any()
    around = (np.abs(first) > 2**-5) & (np.abs(first) < 2**5)
    assert around.mean() > 0.2
    near = np.abs(first.view(whole).astype(object) - second.view(whole).astype(object)) < 8
    assert near.mean() > 0.05


def test_what_would_stop_a_thread_is_not_divided_by():
    side = Side(case("divisor(a, b)", "i8", "i8", number=I8, name="divisor"), "cpu")
    for n in range(0, 2**16, 7):
        (a, b), (by,) = ([np.uint64(int(word, 16)).astype(np.int8) for word in words] for words in side.words(n))
        assert by == (7 if b == 0 or (b == -1 and a in (0, -128)) else b)


def test_statements_stand_before_the_expression():
    side = Side(case("sn.transform_set_translation(a, b); a", "T", "V3", name="set"), "cpu")
    operands, result = side.words(9)
    assert result == [*operands[7:], *operands[3:7]]


def test_options_are_those_of_the_kernel():
    hashed, _ = device_case.kernels(device_case.Case("fast", ("f32",), "sn.exp(a)", F32, 'fast_math="reproducible"'))
    assert hashed.options.fast_math == "reproducible"
