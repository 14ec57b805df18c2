from sim_node.compiler.ir.parser import parse
from sim_node.compiler.ir.printer import text
from sim_node.compiler.ir.verifier import verify
from sim_node.compiler.passes.dce import dce


def test_only_what_has_an_effect_stays():
    source = """
    kernel @k(array<f32> %y, f32 %a, bool %c, i32 %i) {
    b0:
      %dead = add f32 %a, %a
      %deader = mul f32 %dead, %a
      %n = extract i32 %y {1}
      %at = bounds i32 %i, %n {0}
      jump -> b1(%a, %a, %dead)
    b1(f32 %counted, f32 %kept, f32 %unused):
      %next = add f32 %counted, %a
      %more = mul f32 %kept, %a
      branch %c -> b1(%next, %more, %next), b2
    b2:
      %s1_p = extract ptr %y {0}
      %s1_o = offset ptr %s1_p, %i {4}
      store %s1_o, %kept {0}
      return
    }
    """
    assert text(verify(dce(verify(parse(source))))) == (
        "kernel @k(array<f32> %0, f32 %1, bool %2, i32 %3) {\n"
        "b0:\n"
        "  %4 = extract i32 %0 {1}\n"
        "  %5 = bounds i32 %3, %4 {0}\n"
        "  jump -> b1(%1)\n"
        "b1(f32 %6):\n"
        "  %7 = mul f32 %6, %1\n"
        "  branch %2 -> b1(%7), b2\n"
        "b2:\n"
        "  %8 = extract ptr %0 {0}\n"
        "  %9 = offset ptr %8, %3 {4}\n"
        "  store %9, %6 {0}\n"
        "  return\n"
        "}\n"
    )
