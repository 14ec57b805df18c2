from sim_node.compiler.ir.function import Module
from sim_node.compiler.ir.op import Op
from sim_node.compiler.ir.parser import parse
from sim_node.compiler.ir.verifier import verify
from sim_node.compiler.passes.flatten import flatten

# if x[i] > 0: (y[i] = x[i]; if x[i] > a: return), then x[i] = 0
NESTED = """
kernel @k(array<i32> %x, array<i32> %y, i32 %a) {
b0:
  %i = tid i32 {0}
  %p = extract ptr %x {0}
  %at = offset ptr %p, %i {4}
  %v = load i32 %at {0}
  %zero = const i32 {0}
  %c = gt bool %v, %zero
  branch %c -> b1, b3
b1:
  %q = extract ptr %y {0}
  %to = offset ptr %q, %i {4}
  store %to, %v {0}
  %d = gt bool %v, %a
  branch %d -> b2, b3
b2:
  return
b3:
  store %at, %zero {0}
  return
}
"""


def flat(source, partial=False):
    function = parse(source).entry
    made = flatten(function, partial)
    return made, [value for block in made.function.blocks for value in block.body]


def test_branches_become_masks_and_returns_too():
    made, values = flat(NESTED)
    assert len(made.function.blocks) == 1
    assert verify(Module("k", {"k": made.function}))
    first, second = (value for value in values if value.op is Op.STORE)
    condition = next(value for value in values if value.op is Op.GT)
    assert made.masks[first] is condition
    assert made.masks[second].op is Op.OR  # who did not go in, and who came out again
    assert next(value for value in values if value.op is Op.LOAD) not in made.masks


def test_lanes_without_a_thread_are_in_no_mask():
    made, values = flat(NESTED, partial=True)
    load = next(value for value in values if value.op is Op.LOAD)
    first = next(value for value in values if value.op is Op.STORE)
    assert made.masks[load] is made.here
    assert made.masks[first].op is Op.AND
    assert made.here in made.masks[first].args


def test_what_edges_pass_is_chosen():
    source = """
kernel @k(array<i32> %x) {
b0:
  %i = tid i32 {0}
  %p = extract ptr %x {0}
  %at = offset ptr %p, %i {4}
  %one = const i32 {1}
  %c = gt bool %i, %one
  branch %c -> b1, b2(%i, %one)
b1:
  %two = const i32 {2}
  jump -> b2(%two, %one)
b2(i32 %s, i32 %same):
  %t = add i32 %s, %same
  store %at, %t {0}
  return
}
"""
    made, values = flat(source)
    chosen = [value for value in values if value.op is Op.SELECT]
    assert len(chosen) == 1
    _, (end,) = made.function.blocks[0], made.function.blocks[0].edges
    assert end.args[0] is chosen[0]
    assert end.args[1].op is Op.CONST


def test_a_branch_that_all_threads_take_stays():
    made, _ = flat(NESTED.replace("gt bool %v, %zero", "gt bool %a, %zero").replace("gt bool %v, %a", "gt bool %a, %a"))
    assert [block.end.op for block in made.function.blocks].count(Op.BRANCH) == 2
    assert not made.masks


def test_a_way_into_the_middle():
    source = NESTED.replace("  branch %c -> b1, b3", "  %e = gt bool %a, %zero\n  branch %e -> b4, b5", 1)
    source = source.replace("b1:\n", "b4:\n  branch %c -> b1, b3\nb5:\n  jump -> b1\nb1:\n", 1)
    made, values = flat(source)
    assert len(made.function.blocks) == 1, "what all take is a mask as well"
    assert set(made.masks) == {value for value in values if value.op is Op.STORE}
