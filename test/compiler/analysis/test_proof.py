"""What is proven of an index, and under which premise."""

import pytest

from sim_node.compiler.analysis.facts import Spot
from sim_node.compiler.analysis.premise import ALWAYS, NEVER, AtMost, Either, Holds
from sim_node.compiler.analysis.proof import Prover
from sim_node.compiler.ir.op import Op
from sim_node.compiler.ir.parser import parse

HEAD = """
kernel @k(array<i32> %x, i32 %n, i32 %m, u8 %byte, f32 %f) {
b0:
  %t = tid i32 {0}
  %w = extract i32 %x {1}
  %p = extract ptr %x {0}
  %zero = const i32 {0}
  %one = const i32 {1}
  %two = const i32 {2}
"""
TAIL = "  return\n}\n"


def proven(lines, tail=TAIL):
    """The premise of the last check, and the prover."""
    prover = Prover(parse(HEAD + lines + tail).entry)
    spots = [(v, Spot(b.label, i)) for b in prover.order for i, v in enumerate(b.body) if v.op in (Op.BOUNDS, Op.CHECK)]
    check, spot = spots[-1]
    return prover.check(check, spot).premise, prover


def test_a_coordinate_is_left_to_the_launch():
    premise, prover = proven("  %r = bounds i32 %t, %w {0}\n")
    t, w = (
        number for value, number in prover.numbers.items() if value.op in (Op.TID, Op.EXTRACT) and value.type.bits == 32
    )
    assert isinstance(premise, AtMost)
    assert premise.polynomial.terms == {(t,): 1, (w,): -1, (): 1}


def test_a_sum_that_may_wrap_is_a_premise_too():
    premise, _ = proven("  %a = add i32 %t, %two\n  %r = bounds i32 %a, %w {0}\n")
    assert len(premise.parts) == 2
    premise, _ = proven("  %a = add i32 %t, %one\n  %r = bounds i32 %a, %w {0}\n")
    assert isinstance(premise, AtMost)


def test_a_row_of_sums_is_a_premise_for_each():
    """Each is written once; else there would be twice as many goals for every sum more."""
    lines, last = "", "t"
    for at in range(12):
        lines += f"  %s{at} = add i32 %{last}, %n\n"
        last = f"s{at}"
    premise, _ = proven(f"{lines}  %r = bounds i32 %{last}, %w {{0}}\n")
    assert len(premise.parts) > 12


@pytest.mark.parametrize(
    "lines",
    [
        "  %a = min i32 %n, %w\n  %b = sub i32 %a, %one\n  %c = max i32 %b, %zero\n  %r = bounds i32 %c, %w {0}\n",
        "  %v = load i32 %p {0}\n  %r = bounds i32 %v, %w {0}\n",
        "  %a = mul i32 %n, %n\n  %v = load i32 %p {0}\n  %b = add i32 %a, %v\n  %r = bounds i32 %b, %w {0}\n",
    ],
    ids=["an extent may be 0", "memory", "memory in a sum"],
)
def test_what_only_the_thread_knows_is_not_proven(lines):
    premise, _ = proven(lines)
    assert premise == NEVER or lines.count("max")


@pytest.mark.parametrize(
    ("lines", "last"),
    [
        ("  %v = load i32 %p {0}\n  %q = bounds i32 %v, %w {0}\n  %r = bounds i32 %q, %w {1}\n", ""),
        ("  %v = load i32 %p {0}\n  %s = cast u32 %v\n  %e = cast u32 %w\n  %q = bounds u32 %s, %e {0}\n"
         "  %r = bounds i32 %v, %w {1}\n", "wraps"),
        ("  %o = ne bool %w, %zero\n  check %o {0}\n  %v = load i32 %p {0}\n  %a = rem i32 %v, %w\n"
         "  %d = lt bool %a, %zero\n  %b = add i32 %a, %w\n  %c = select i32 %d, %b, %a\n"
         "  %r = bounds i32 %c, %w {1}\n", ""),
    ],
    ids=["checked before", "another type", "a remainder"],
)  # fmt: skip
def test_what_a_check_before_leaves_is_inside(lines, last):
    premise, _ = proven(lines)
    assert premise == (NEVER if last else ALWAYS)


def test_a_guard_is_a_fact_behind_it_and_nowhere_else():
    lines = "  %v = load i32 %p {0}\n  %a = ge bool %v, %zero\n  %b = lt bool %v, %w\n  %c = and bool %a, %b\n"
    inside = "  branch %c -> b1, b2\nb1:\n  %r = bounds i32 %v, %w {0}\n  jump -> b2\nb2:\n  return\n}\n"
    assert proven(lines, inside)[0] == ALWAYS
    assert proven(lines, inside.replace("-> b1, b2\n", "-> b2, b1\n", 1))[0] == NEVER
    behind = "  branch %c -> b1, b2\nb1:\n  jump -> b2\nb2:\n  %r = bounds i32 %v, %w {0}\n  return\n}\n"
    assert proven(lines, behind)[0] == NEVER


LOOP = """  %some = lt bool %zero, %w
  branch %some -> b1(%zero), b2
b1(i32 %j):
  %r = bounds i32 %j, %w {0}
  %next = add i32 %j, STEP
  %more = lt bool %next, %w
  branch %more -> b1(%next), b2
b2:
  return
}
"""


def test_the_count_of_a_loop_is_inside_by_induction():
    assert proven("", LOOP.replace("STEP", "%one"))[0] == ALWAYS
    # 2^31 - 2 + 2 wraps where the array is that long, and the test at the foot lets a negative one pass
    assert proven("", LOOP.replace("STEP", "%two"))[0] != ALWAYS
    assert proven("  %v = load i32 %p {0}\n", LOOP.replace("STEP", "%v"))[0] == NEVER


def test_a_number_that_grows_on_one_way_round_only_is_not_taken_for_steady():
    loop = LOOP.replace("STEP", "%one").replace("%r = bounds i32 %j", "%k = sub i32 %j, %one\n  %r = bounds i32 %k")
    assert proven("", loop)[0] == NEVER


def test_bytes_are_small():
    premise, _ = proven("  %v = load u8 %p {0}\n  %a = cast i32 %v\n  %r = bounds i32 %a, %w {0}\n")
    assert isinstance(premise, AtMost)
    assert premise.polynomial.terms[()] == 256


def test_conditions():
    premise, _ = proven("  %c = ne bool %n, %zero\n  check %c {0}\n")
    assert isinstance(premise, Either)
    premise, _ = proven("  %c = lt bool %f, %f\n  check %c {0}\n")
    assert isinstance(premise, Holds)
    premise, _ = proven(
        "  %v = load i32 %p {0}\n  %c = lt bool %v, %n\n  %d = le bool %w, %w\n  %e = or bool %c, %d\n  check %e {0}\n"
    )
    assert premise == ALWAYS
    premise, _ = proven(
        "  %v = load f32 %p {0}\n  %c = lt bool %v, %f\n  %d = le bool %n, %w\n  %e = and bool %c, %d\n  check %e {0}\n"
    )
    assert premise == NEVER
