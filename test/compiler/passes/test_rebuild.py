from sim_node.compiler.ir.parser import parse
from sim_node.compiler.passes.rebuild import keep, rebuild

LOOP = """
kernel @k(array<f32> %y, f32 %a, bool %c, i32 %i) {
b0:
  jump -> b1(%a)
b1(f32 %s):
  %t = add f32 %s, %a
  branch %c -> b1(%t), b2
b2:
  %s1_p = extract ptr %y {0}
  %s1_o = offset ptr %s1_p, %i {4}
  store %s1_o, %s {0}
  return
}
"""


def test_a_function_that_nothing_changes_is_equal_and_its_values_the_same():
    function = parse(LOOP).entry
    again = rebuild(function, keep)
    assert again == function
    assert all(a is b for old, new in zip(function.blocks, again.blocks) for a, b in zip(old.body, new.body))


def test_a_parameter_is_replaced_everywhere():
    function = parse(LOOP).entry
    header = function.blocks[1]
    again = rebuild(function, keep, {header.params[0]: function.params[1]})
    assert [len(block.params) for block in again.blocks] == [0, 0, 0]
    assert all(not edge.args for block in again.blocks for edge in block.edges)
    assert again.blocks[2].body[2].args[1] is function.params[1]
