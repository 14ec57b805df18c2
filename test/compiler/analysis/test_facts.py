"""What conditions say, and where."""

from itertools import product

import pytest

from sim_node.compiler.analysis.facts import Facts, Spot, cases
from sim_node.compiler.analysis.polynomial import Polynomial, number, of
from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.op import Op
from sim_node.compiler.ir.parser import parse
from sim_node.compiler.passes.evaluate import evaluate
from sim_node.dtypes import bool_, int32

CONDITION = """
kernel @k(i32 %a, i32 %b, f32 %f, bool %t) {{
b0:
  %p = {first} bool %a, %b
  %zero = const i32 {{0}}
  %q = {second} bool %a, %zero
  %r = {both} bool %p, %q
  %s = invert bool %r
  %g = lt bool %f, %f
  %u = and bool %r, %g
  %v = or bool %r, %g
  return
}}
"""
ORDERS = ("lt", "le", "gt", "ge", "eq", "ne")


def terms(function):
    numbers = {value: i for i, value in enumerate((*function.params, *function.blocks[0].body))}
    return lambda value: number(value.attr) if value.op is Op.CONST else of(numbers[value])


@pytest.mark.parametrize("both", ["and", "or", "eq", "ne", "xor"])
def test_a_condition_holds_in_one_of_its_cases(both):
    for first, second in product(ORDERS, ORDERS):
        function = parse(CONDITION.format(first=first, second=second, both=both)).entry
        p, _, q, r, s, g, u, v = function.blocks[0].body
        term = terms(function)
        for a, b in product((-2, 0, 1, 2**31 - 1, -(2**31)), repeat=2):
            truths = {
                p: evaluate(p.op, bool_, [(int32, a), (int32, b)]),
                q: evaluate(q.op, bool_, [(int32, a), (int32, 0)]),
            }
            truths[r] = evaluate(r.op, bool_, [(bool_, truths[p]), (bool_, truths[q])])
            truths[s] = not truths[r]
            for value, truth in truths.items():
                assert any(_holds(case, a, b) for case in cases(value, truth, term))
                if value in (p, q):  # of one comparison the cases are all that it says
                    assert not any(_holds(case, a, b) for case in cases(value, not truth, term))
            if truths[r]:
                assert any(_holds(case, a, b) for case in cases(u, True, term))
            else:
                assert any(_holds(case, a, b) for case in cases(v, False, term))
        assert cases(g, True, term) == [()]


def _holds(case, a, b):
    return all(part.interval(lambda atom: [(a, a), (b, b)][atom])[0] <= 0 for part in case)


def test_facts_hold_behind_what_they_come_from():
    source = """
    kernel @k(array<f32> %x, i32 %n, i32 %m) {
    b0:
      %i = tid i32 {0}
      %c = lt bool %i, %n
      branch %c -> b1, b2
    b1:
      %w = extract i32 %x {1}
      %at = bounds i32 %i, %w {0}
      jump -> b3
    b2:
      jump -> b3
    b3:
      %ok = ne bool %n, %m
      check %ok {0}
      return
    }
    """
    function = parse(source).entry
    order = cfg.reverse_postorder(function)
    numbers = {v: i for i, v in enumerate((*function.params, *(v for b in order for v in b.body)))}
    facts = Facts(order, (lambda value: of(numbers[value]),), lambda _: (-(2**31), 2**31 - 1))
    i, n = numbers[order[0].body[0]], 1
    label = {
        "b0": order[0].label,
        **{f"b{k}": b.label for k, b in zip((1, 2, 3), sorted(order[1:], key=lambda b: b.label))},
    }
    (less,) = [
        fact
        for fact in facts.about(n)
        if not fact.check and i in fact.polynomial.atoms and fact.where.label == label["b1"]
    ]
    assert less.polynomial == of(i) - of(n) + number(1)
    assert facts.holds(less, Spot(label["b1"], 0))
    assert not facts.holds(less, Spot(label["b2"], 0))
    assert not facts.holds(less, Spot(label["b3"], 0))
    checks = [fact for fact in facts.about(i) if fact.check]
    assert {fact.polynomial for fact in checks} >= {Polynomial({(i,): -1})}
    assert all(
        not facts.holds(fact, Spot(label["b1"], 1)) and facts.holds(fact, Spot(label["b1"], 2)) for fact in checks
    )
    assert facts.dominates(label["b0"], label["b3"])
    assert not facts.dominates(label["b1"], label["b3"])
    assert not facts.dominates(label["b3"], label["b3"])
