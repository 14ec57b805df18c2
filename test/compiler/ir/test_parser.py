import pytest

from sim_node.compiler.ir.parser import parse
from sim_node.compiler.ir.printer import text
from sim_node.compiler.ir.verifier import verify

EVERYTHING = """\
kernel @all(array<vec3f> %0, array<bool> %1, vec2d %2, u64 %3) {
b0:
  %4 = tid i32 {0}
  %5 = const f32 {-0.0}
  %6 = const f32 {nan}
  %7 = const f64 {1e-300}
  %8 = const bool {true}
  %9 = const u64 {18446744073709551615}
  %10 = extract i32 %0 {1}
  %11 = bounds i32 %4, %10 {1}
  %12_p = extract ptr %0 {0}
  %12_o = offset ptr %12_p, %11 {12}
  %12 = load f32 %12_o {8}
  %13 = call vec3f %12, %5 {@spread}
  %s1_p = extract ptr %0 {0}
  %s1_o = offset ptr %s1_p, %11 {12}
  store %s1_o, %13 {0}
  check %8 {0}
  branch %8 -> b1(%12, %3), b1(%6, %9)
b1(f32 %14, u64 %15):
  %16 = ge bool %14, %5
  branch %16 -> b1(%5, %15), b2
b2:
  %17 = extract f64 %2 {1}
  return
}

func @spread(f32 %0, f32 %1) -> vec3f {
b0:
  %2 = make vec3f %0, %1, %0
  return %2
}
"""


def test_text_reads_back_to_itself():
    module = verify(parse(EVERYTHING))
    assert text(module) == EVERYTHING
    assert [site.kind for site in module.entry.sites] == ["assert", "index"]


def test_a_line_in_another_form_is_quoted():
    with pytest.raises(ValueError, match="not a line of IR text: '%4 := tid i32 {0}'"):
        parse(EVERYTHING.replace("%4 = tid", "%4 := tid"))
