from sim_node.compiler.ir.parser import parse
from sim_node.compiler.ir.printer import text
from sim_node.compiler.passes.rebuild import each
from sim_node.compiler.passes.straighten import join, straighten


def straight(source):
    """Straighten until nothing changes, as fold does: a parameter may be redundant only once another is gone."""
    before, module = "", parse(source)
    while text(module) != before:
        before, module = text(module), each(module, lambda function: join(straighten(function)))
    return before


def test_chains_join_and_redundant_parameters_go():
    source = """
    kernel @k(ptr %y, bool %c, i32 %i) {
    b0:
      jump -> b1(%i)
    b1(i32 %a):
      branch %c -> b2(%a), b3
    b2(i32 %b):
      jump -> b4(%b, %b)
    b3:
      %n = neg i32 %a
      jump -> b4(%i, %n)
    b4(i32 %same, i32 %other):
      %at = offset ptr %y, %same {4}
      store %at, %other {0}
      return
    }
    """
    assert straight(source) == (
        "kernel @k(ptr %0, bool %1, i32 %2) {\n"
        "b0:\n  branch %1 -> b1, b2\n"
        "b1:\n  jump -> b3(%2)\n"
        "b2:\n  %3 = neg i32 %2\n  jump -> b3(%3)\n"
        "b3(i32 %4):\n  %5 = offset ptr %0, %2 {4}\n  store %5, %4 {0}\n  return\n}\n"
    )


def test_loops_stay():
    source = (
        "kernel @k(bool %0, i32 %1) {\n"
        "b0:\n  jump -> b1(%1)\n"
        "b1(i32 %2):\n  %3 = neg i32 %2\n  branch %0 -> b1(%3), b2\n"
        "b2:\n  return\n}\n"
    )
    assert straight(source) == source
    endless = "kernel @k() {\nb0:\n  jump -> b1\nb1:\n  jump -> b1\n}\n"
    assert straight(endless) == endless


def test_a_branch_with_equal_edges_is_a_jump():
    source = "kernel @k(bool %c) {\nb0:\n  branch %c -> b1, b1\nb1:\n  return\n}\n"
    assert straight(source) == "kernel @k(bool %0) {\nb0:\n  return\n}\n"


BOTH = (
    "kernel @k(ptr %0, bool %1, bool %2) {{\n"
    "b0:\n  %3 = const bool {{false}}\n  %4 = const i32 {{1}}\n  branch %1 -> b1, b2(%3)\n"
    "b1:\n  jump -> b2(%2)\n"
    "b2(bool %5):\n  branch %5 -> b3, b4\n"
    "b3:\n  store %0, %4 {{0}}\n  jump -> b4\n"
    "b4:\n  {use}return\n}}\n"
)


def test_a_constant_condition_that_is_passed_on_goes_its_way_at_once():
    """``if a and b`` branches twice."""
    assert straight(BOTH.format(use="")) == (
        "kernel @k(ptr %0, bool %1, bool %2) {\n"
        "b0:\n  %3 = const bool {false}\n  %4 = const i32 {1}\n  branch %1 -> b1, b3\n"
        "b1:\n  branch %2 -> b2, b3\n"
        "b2:\n  store %0, %4 {0}\n  jump -> b3\n"
        "b3:\n  return\n}\n"
    )


def test_a_condition_that_is_used_later_is_passed_on():
    assert "(bool %" in straight(BOTH.format(use="store %0, %5 {0}\n  "))


def test_the_way_round_a_loop_does_not_jump_into_its_middle():
    source = (
        "kernel @k(bool %0) {\n"
        "b0:\n  %1 = const bool {true}\n  jump -> b1(%0)\n"
        "b1(bool %2):\n  branch %2 -> b2, b3\n"
        "b2:\n  branch %0 -> b1(%1), b3\n"
        "b3:\n  return\n}\n"
    )
    assert "b1(%1)" in straight(source)
