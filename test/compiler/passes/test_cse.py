from sim_node.compiler.ir.parser import parse
from sim_node.compiler.ir.printer import text
from sim_node.compiler.ir.verifier import verify
from sim_node.compiler.passes.cse import cse


def test_equal_values_join_where_one_dominates():
    source = """
    kernel @k(array<f32> %y, f32 %a, f32 %b, bool %c, i32 %i) {
    b0:
      %p = add f32 %a, %b
      %q = add f32 %b, %a
      %s = sub f32 %a, %b
      %t = sub f32 %b, %a
      %m = const f32 {0.0}
      %n = const f32 {-0.0}
      %o = const f32 {0.0}
      %s1_p = extract ptr %y {0}
      %s1_o = offset ptr %s1_p, %i {4}
      store %s1_o, %q {0}
      branch %c -> b1, b2
    b1:
      %r = add f32 %a, %b
      %u = mul f32 %r, %o
      %s2_p = extract ptr %y {0}
      %s2_o = offset ptr %s2_p, %i {4}
      store %s2_o, %u {0}
      jump -> b3
    b2:
      %v = mul f32 %p, %m
      %s3_p = extract ptr %y {0}
      %s3_o = offset ptr %s3_p, %i {4}
      store %s3_o, %v {0}
      jump -> b3
    b3:
      %w = mul f32 %p, %m
      %s4_p = extract ptr %y {0}
      %s4_o = offset ptr %s4_p, %i {4}
      store %s4_o, %w {0}
      return
    }
    """
    assert text(verify(cse(verify(parse(source))))) == (
        "kernel @k(array<f32> %0, f32 %1, f32 %2, bool %3, i32 %4) {\n"
        "b0:\n"
        "  %5 = add f32 %1, %2\n"
        "  %6 = sub f32 %1, %2\n"
        "  %7 = sub f32 %2, %1\n"
        "  %8 = const f32 {0.0}\n"
        "  %9 = const f32 {-0.0}\n"
        "  store %0, %4, %5\n"
        "  branch %3 -> b1, b2\n"
        "b1:\n"
        "  %10 = mul f32 %5, %8\n"
        "  store %0, %4, %10\n"
        "  jump -> b3\n"
        "b2:\n"
        "  %11 = mul f32 %5, %8\n"
        "  store %0, %4, %11\n"
        "  jump -> b3\n"
        "b3:\n"
        "  %12 = mul f32 %5, %8\n"
        "  store %0, %4, %12\n"
        "  return\n"
        "}\n"
    )


def test_loads_are_not_joined():
    source = (
        "kernel @k(array<f32> %0, i32 %1) {\nb0:\n"
        "  %2 = load f32 %0, %1\n  store %0, %1, %2\n  %3 = load f32 %0, %1\n  store %0, %1, %3\n  return\n}\n"
    )
    assert text(cse(parse(source))) == source
