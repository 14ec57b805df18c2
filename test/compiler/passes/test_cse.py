from sim_node.compiler.ir.parser import parse
from sim_node.compiler.ir.printer import text
from sim_node.compiler.ir.verifier import verify
from sim_node.compiler.passes.cse import cse


def test_equal_values_join_where_one_dominates():
    source = """
    kernel @k(ptr %y, f32 %a, f32 %b, bool %c) {
    b0:
      %p = add f32 %a, %b
      %q = add f32 %b, %a
      %s = sub f32 %a, %b
      %t = sub f32 %b, %a
      %m = const f32 {0.0}
      %n = const f32 {-0.0}
      %o = const f32 {0.0}
      store %y, %q {0}
      branch %c -> b1, b2
    b1:
      %r = add f32 %a, %b
      %u = mul f32 %r, %o
      store %y, %u {0}
      jump -> b3
    b2:
      %v = mul f32 %p, %m
      store %y, %v {0}
      jump -> b3
    b3:
      %w = mul f32 %p, %m
      store %y, %w {0}
      return
    }
    """
    assert text(verify(cse(verify(parse(source))))) == (
        "kernel @k(ptr %0, f32 %1, f32 %2, bool %3) {\n"
        "b0:\n"
        "  %4 = add f32 %1, %2\n"
        "  %5 = sub f32 %1, %2\n"
        "  %6 = sub f32 %2, %1\n"
        "  %7 = const f32 {0.0}\n"
        "  %8 = const f32 {-0.0}\n"
        "  store %0, %4 {0}\n"
        "  branch %3 -> b1, b2\n"
        "b1:\n"
        "  %9 = mul f32 %4, %7\n"
        "  store %0, %9 {0}\n"
        "  jump -> b3\n"
        "b2:\n"
        "  %10 = mul f32 %4, %7\n"
        "  store %0, %10 {0}\n"
        "  jump -> b3\n"
        "b3:\n"
        "  %11 = mul f32 %4, %7\n"
        "  store %0, %11 {0}\n"
        "  return\n"
        "}\n"
    )


def test_loads_are_not_joined():
    source = (
        "kernel @k(ptr %0) {\nb0:\n"
        "  %1 = load f32 %0 {0}\n  store %0, %1 {0}\n  %2 = load f32 %0 {0}\n  store %0, %2 {0}\n  return\n}\n"
    )
    assert text(cse(parse(source))) == source


def test_a_passed_check_is_not_repeated():
    source = """
    kernel @k(ptr %y, i32 %n, i32 %i, bool %c) {
    b0:
      %p = bounds i32 %i, %n {0}
      check %c {1}
      branch %c -> b1, b2
    b1:
      %q = bounds i32 %i, %n {2}
      %r = bounds i32 %q, %n {2}
      check %c {3}
      store %y, %q {0}
      store %y, %r {4}
      jump -> b2
    b2:
      return
    }
    """
    kept = text(cse(parse(source)))
    assert kept.count("check") == 1
    assert kept.count("bounds") == 2  # %r checks another value
