"""The bounds of an op's result hold for every operand, and are found."""

import pytest

from sim_node.compiler.analysis.bounds import SUMS
from sim_node.compiler.analysis.facts import Spot
from sim_node.compiler.analysis.polynomial import number, of
from sim_node.compiler.analysis.premise import ALWAYS
from sim_node.compiler.analysis.proof import Prover
from sim_node.compiler.ir.op import Op
from sim_node.compiler.ir.parser import parse

HEAD = """
kernel @k(array<i32> %x) {
b0:
  %w = extract i32 %x {1}
  %p = extract ptr %x {0}
  %m = extract i32 %x {1}
  %zero = const i32 {0}
  %one = const i32 {1}
  %two = const i32 {2}
  %top = const i32 {2147483646}
  %v = load i32 %p {0}
  %some = ge bool %w, %one
  check %some {0}
"""
INSIDE = {
    "a remainder of one that is not negative": "%a = max i32 %v, %zero\n %i = rem i32 %a, %w",
    "a remainder of a constant": "%a = rem i32 %zero, %w\n %i = max i32 %a, %zero",
    "the least of an extent": "%a = max i32 %v, %zero\n %l = sub i32 %w, %one\n %i = min i32 %a, %l",
    "a half": "%l = sub i32 %w, %one\n %i = quot i32 %l, %two",
    "a shifted one": "%a = max i32 %v, %zero\n %b = rem i32 %a, %w\n %i = shr i32 %b, %one",
    "masked by one that is inside": "%l = sub i32 %w, %one\n %i = and i32 %v, %l",
    "a part of a product": "%a = max i32 %v, %zero\n %b = rem i32 %a, %w\n %i = quot i32 %b, %two",
}
OUTSIDE = {
    "a remainder": "%i = rem i32 %v, %w",
    "a remainder by another": "%a = max i32 %v, %zero\n %b = add i32 %w, %one\n %i = rem i32 %a, %b",
    "the greatest of an extent": "%a = max i32 %v, %zero\n %l = sub i32 %w, %one\n %i = max i32 %a, %l",
    "a half of the double": "%l = add i32 %w, %w\n %i = quot i32 %l, %two",
    "a shifted one that may be negative": "%i = shr i32 %v, %one",
    "shifted by the whole width, which is by nothing": "%a = max i32 %v, %zero\n %b = const i32 {32}\n"
    " %i = shr i32 %a, %b",
    "masked by an extent": "%i = and i32 %v, %w",
    "a sum that wraps": "%a = max i32 %v, %top\n %b = add i32 %a, %two\n %c = max i32 %b, %zero\n"
    " %l = sub i32 %w, %one\n %i = add i32 %c, %l",
}


def proven(lines):
    source = (
        HEAD + "".join(f" {line}\n" for line in [*lines.split("\n"), "%r = bounds i32 %i, %w {1}", "return"]) + "}\n"
    )
    prover = Prover(parse(source).entry)
    (block,) = prover.order
    position, check = next((i, value) for i, value in enumerate(block.body) if value.op is Op.BOUNDS)
    return prover.check(check, Spot(block.label, position)).premise


@pytest.mark.parametrize("lines", INSIDE.values(), ids=INSIDE)
def test_what_is_inside(lines):
    assert proven(lines) == ALWAYS


@pytest.mark.parametrize("lines", OUTSIDE.values(), ids=OUTSIDE)
def test_what_may_be_outside(lines):
    assert proven(lines) != ALWAYS


def test_sums():
    a, b, three = of(1), of(2), number(3)
    assert SUMS[Op.ADD](a, b) == a + b
    assert SUMS[Op.SUB](a, three) == a - three
    assert SUMS[Op.NEG](a) == a.scaled(-1)
    assert SUMS[Op.MUL](a, b).terms == {(1, 2): 1}
    assert SUMS[Op.SHL](a, three) == a.scaled(8)
    assert SUMS[Op.SHL](a, b) is None
    assert SUMS[Op.CAST](a) == SUMS[Op.BOUNDS](a, b) == a
