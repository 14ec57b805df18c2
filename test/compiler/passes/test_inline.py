from dataclasses import replace

import numpy as np

from sim_node.compiler.ir.digest import digest
from sim_node.compiler.ir.function import Module, Site, Value
from sim_node.compiler.ir.op import Op
from sim_node.compiler.ir.parser import parse
from sim_node.compiler.ir.printer import text
from sim_node.compiler.ir.verifier import verify
from sim_node.compiler.passes.inline import inline
from sim_node.compiler.passes.rebuild import with_args
from sim_node.errors import Location

CALLS = """
kernel @k(array<i32> %x) {
b0:
  %i = tid i32 {0}
  %n = extract i32 %x {1}
  %at = bounds i32 %i, %n {0}
  %v_p = extract ptr %x {0}
  %v_o = offset ptr %v_p, %at {4}
  %v = load i32 %v_o {0}
  %a = call i32 %v, %x {@clamped}
  %b = call i32 %a, %x {@clamped}
  call %x, %i, %b {@put}
  return
}
func @put(array<i32> %x, i32 %i, i32 %v) {
b0:
  %s1_p = extract ptr %x {0}
  %s1_o = offset ptr %s1_p, %i {4}
  store %s1_o, %v {0}
  return
}
func @clamped(i32 %v, array<i32> %x) -> i32 {
b0:
  %w = call i32 %v {@twice}
  %n = extract i32 %x {1}
  %c = lt bool %w, %n
  branch %c -> b1, b2
b1:
  %d = lt bool %v, %n
  check %d {0}
  return %w
b2:
  return %n
}
func @twice(i32 %v) -> i32 {
b0:
  %w = add i32 %v, %v
  return %w
}
"""


def test_one_function_is_left_and_it_means_the_same(execute):
    module = verify(inline(verify(parse(CALLS))))
    assert list(module.functions) == ["k"]
    assert not [v for b in module.entry.blocks for v in b.body if v.op is Op.CALL]
    x = np.arange(12, dtype=np.int32)
    assert execute(module, 12, x).code == 0
    np.testing.assert_array_equal(x, [min(4 * i, 12) for i in range(12)])


def at(name, line):
    return Location(f"{name}.py", line, 0, inside=name)


def located(module):
    """Give every value and site of a function the function's file, and its place in the block as its line."""
    functions = {}
    for name, function in module.functions.items():
        new = dict(zip(function.params, function.params))
        blocks = []
        for block in function.blocks:
            for line, value in enumerate(block.body):
                args = tuple(new[arg] for arg in value.args)
                new[value] = Value(value.op, value.type, args, value.attr, at(name, line))
            end = with_args(block.end, tuple(new[arg] for arg in block.end.args))
            blocks.append(block._replace(body=tuple(new[value] for value in block.body), end=end))
        sites = tuple(Site("assert", name, at(name, 99)) for _ in function.sites)
        functions[name] = replace(function, blocks=tuple(blocks), sites=sites)
    return Module(module.kernel, functions)


def test_locations_and_sites_get_their_chain_of_callers():
    flat = inline(verify(located(parse(CALLS)))).entry
    add = [v for b in flat.blocks for v in b.body if v.op is Op.ADD]
    chains = [(v.location, v.location.caller, v.location.caller.caller) for v in add]
    assert [tuple((step.inside, step.line) for step in chain) for chain in chains] == [
        (("twice", 0), ("clamped", 0), ("k", 6)),
        (("twice", 0), ("clamped", 0), ("k", 7)),
    ]
    assert [(site.subject, site.location.caller) for site in flat.sites] == [
        ("k", None),
        ("clamped", at("k", 6)),
        ("clamped", at("k", 7)),
    ]
    assert [v.attr for b in flat.blocks for v in b.body if v.op in (Op.CHECK, Op.BOUNDS)] == [0, 1, 2]


def test_code_moved_into_a_func_keeps_its_digest():
    moved = """
    kernel @k(array<i32> %x, i32 %a) {
    b0:
      %z = const i32 {0}
      %y = call i32 %a {@f}
      %s2_p = extract ptr %x {0}
      %s2_o = offset ptr %s2_p, %z {4}
      store %s2_o, %y {0}
      return
    }
    func @f(i32 %v) -> i32 {
    b0:
      %w = add i32 %v, %v
      return %w
    }
    """
    plain = """
    kernel @k(array<i32> %x, i32 %a) {
    b0:
      %z = const i32 {0}
      jump -> b1
    b1:
      %w = add i32 %a, %a
      jump -> b2(%w)
    b2(i32 %y):
      %s3_p = extract ptr %x {0}
      %s3_o = offset ptr %s3_p, %z {4}
      store %s3_o, %y {0}
      return
    }
    """
    assert digest(inline(parse(moved))) == digest(parse(plain)), text(inline(parse(moved)))
