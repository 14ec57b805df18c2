import pytest

from sim_node.compiler.analysis.uniformity import EXIT, ObstacleError, chain, divergence
from sim_node.compiler.ir.op import Op
from sim_node.compiler.ir.parser import parse

# if x[i] > a: s = 1 else: s = 2, then a loop of n steps, then x[i] = s
BRANCH = """
kernel @k(array<i32> %x, i32 %a, i32 %n) {
b0:
  %i = tid i32 {0}
  %p = extract ptr %x {0}
  %at = offset ptr %p, %i {4}
  %v = load i32 %at {0}
  %one = const i32 {1}
  %two = const i32 {2}
  %c = gt bool %v, %a
  branch %c -> b1, b2
b1:
  jump -> b3(%one)
b2:
  jump -> b3(%two)
b3(i32 %s):
  %zero = const i32 {0}
  jump -> b4(%zero, %s)
b4(i32 %k, i32 %t):
  %more = lt bool %k, LIMIT
  branch %more -> b5, b6
b5:
  %next = add i32 %k, %one
  %u = add i32 %t, %k
  jump -> b4(%next, %u)
b6:
  store %at, %t {0}
  return
}
"""


def block(found, label):
    return next(block for block in found.order if block.label == label)


def test_what_a_branch_chooses_varies_and_a_count_does_not():
    found = divergence(parse(BRANCH.replace("LIMIT", "%n")).entry)
    assert found.regions == {"b0": {"b1", "b2"}}
    assert set(block(found, "b3").params) <= found.varying
    count, total = block(found, "b4").params
    assert count not in found.varying
    assert total in found.varying
    assert list(chain("b0", found.after)) == ["b3", "b4", "b6", EXIT]


def test_an_address_that_is_the_same_for_all_is_read_once():
    source = BRANCH.replace("%i = tid i32 {0}", "%z = tid i32 {0}\n  %i = const i32 {0}").replace("LIMIT", "%n")
    found = divergence(parse(source).entry)
    assert {value.op for value in found.varying} == {Op.TID}
    assert not found.regions


@pytest.mark.parametrize("limit", ["%s", "%v"])
def test_a_loop_that_threads_leave_one_by_one(limit):
    with pytest.raises(ObstacleError, match="as long as it needs"):
        divergence(parse(BRANCH.replace("LIMIT", limit)).entry)


def test_a_loop_that_some_threads_run():
    source = BRANCH.replace("LIMIT", "%n").replace("branch %c -> b1, b2", "branch %c -> b1, b7")
    source = source.replace("b6:\n", "b6:\n  jump -> b7\nb7:\n").replace("  store %at, %t {0}\n", "")
    with pytest.raises(ObstacleError, match="for some threads only"):
        divergence(parse(source).entry)


def test_a_loop_without_an_end():
    with pytest.raises(ObstacleError, match="does not end"):
        divergence(parse("kernel @k() {\nb0:\n  %i = tid i32 {0}\n  jump -> b1\nb1:\n  jump -> b1\n}").entry)
