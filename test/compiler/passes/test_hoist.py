"""A kernel split: which threads run free, and what they no longer do."""

import interpreter
import numpy as np
import pytest

from sim_node.compiler.ir.function import Module
from sim_node.compiler.ir.op import Op
from sim_node.compiler.ir.parser import parse
from sim_node.compiler.passes.hoist import hoist
from sim_node.compiler.passes.pipeline import optimise

STENCIL = """
kernel @k(array<i32> %x, array<i32> %y, i32 %n) dims 1 {
b0:
  %t = tid i32 {0}
  %w = extract i32 %x {1}
  %p = extract ptr %x {0}
  %two = const i32 {2}
  %left = sub i32 %t, %two
  %a = bounds i32 %left, %w {0}
  %pa = offset ptr %p, %a {4}
  %va = load i32 %pa {0}
  %right = add i32 %t, %two
  %b = bounds i32 %right, %w {1}
  %pb = offset ptr %p, %b {4}
  %vb = load i32 %pb {0}
  %zero = const i32 {0}
  %some = ne bool %n, %zero
  check %some {2}
  %s = add i32 %va, %vb
  %e = extract i32 %y {1}
  %q = extract ptr %y {0}
  %c = bounds i32 %t, %e {3}
  %pc = offset ptr %q, %c {4}
  store %pc, %s {0}
  return
}
"""


def rows(source=STENCIL):
    return hoist(optimise(parse(source)).entry)


def safe(found, args, begin, end):
    return tuple(map(int, interpreter.run(Module("safe", {"safe": found.safe}), [*args, begin, end])))


@pytest.mark.parametrize(("begin", "end"), [(0, 20), (0, 4), (5, 7), (9, 30), (0, 0)])
def test_the_threads_that_pass_every_check_run_free(begin, end):
    found, x, y = rows(), np.zeros(12, np.int32), np.zeros(9, np.int32)
    first, after = safe(found, [x, y, 1], begin, end)
    assert list(range(first, after)) == [t for t in range(begin, end) if 2 <= t < 10 and t < 9]
    assert begin <= first <= after <= end
    assert found.sites == {0, 1, 2, 3}


def test_a_check_that_fails_for_all_lets_none_run_free():
    first, after = safe(rows(), [np.zeros(12, np.int32), np.zeros(9, np.int32), 0], 0, 9)
    assert first == after


def test_free_threads_check_nothing_and_step_in_i64():
    found = rows()
    values = [value for block in found.free.blocks for value in block.body]
    assert not {Op.BOUNDS, Op.CHECK} & {value.op for value in values}
    assert all(value.args[1].type.bits == 64 for value in values if value.op is Op.OFFSET)
    assert [value.type.bits for value in values if value.op is Op.SUB] == [64]


@pytest.mark.parametrize(("step", "offset"), [(1, 0), (2, 1), (3, -4), (-1, 9), (-2, 7), (7, -30)])
def test_along_a_row_a_straight_line_is_inside_between_two_threads(step, offset):
    source = f"""
    kernel @k(array<i32> %x, i32 %n) dims 1 {{
    b0:
      %t = tid i32 {{0}}
      %w = extract i32 %x {{1}}
      %p = extract ptr %x {{0}}
      %step = const i32 {{{step}}}
      %offset = const i32 {{{offset}}}
      %scaled = mul i32 %t, %step
      %i = add i32 %scaled, %offset
      %a = bounds i32 %i, %w {{0}}
      %to = offset ptr %p, %a {{4}}
      store %to, %n {{0}}
      return
    }}
    """
    found = rows(source)
    for length in (0, 1, 5, 8, 40):
        first, after = safe(found, [np.zeros(length, np.int32), 1], 0, 30)
        assert list(range(first, after)) == [t for t in range(30) if 0 <= step * t + offset < length]


def test_a_step_that_the_launch_knows_passes_for_a_whole_row_or_not():
    source = STENCIL.replace("%left = sub i32 %t, %two", "%left = mul i32 %t, %n").replace(
        "add i32 %t, %two", "add i32 %t, %n"
    )
    found, args = rows(source), [np.zeros(40, np.int32), np.zeros(40, np.int32)]
    assert safe(found, [*args, 3], 0, 13) == (0, 13)
    first, after = safe(found, [*args, 3], 0, 15)
    assert first == after
    first, after = safe(found, [*args, -1], 1, 3)
    assert first == after


def test_nothing_to_hoist():
    assert rows("kernel @k(ptr %x, i32 %n) {\nb0:\n  store %x, %n {0}\n  return\n}\n") is None


def test_checks_that_every_thread_makes_are_certain():
    """What is not safe then stops, which the loop with all checks is compiled for."""
    whole = hoist(optimise(parse(STENCIL)).entry)
    assert whole.certain
    guarded = STENCIL.replace(
        "  %s = add i32 %va, %vb\n", "  branch %some -> b1, b2\nb1:\n  %s = add i32 %va, %vb\n"
    ).replace("  return\n", "  jump -> b2\nb2:\n  return\n")
    assert not hoist(optimise(parse(guarded.replace("  check %some {2}\n", ""))).entry).certain
