import pytest

from sim_node.compiler.ir.parser import parse
from sim_node.compiler.ir.printer import text
from sim_node.compiler.ir.verifier import verify

EVERYTHING = """\
kernel @all(array<vec3f> %0, array<struct<bool,tuple<i8,mat23h>>,3,strided> %1, vec2d %2, u64 %3) dims 2 {
b0:
  %4 = tid i32 {0}
  %5 = const f32 {-0.0}
  %6 = const f32 {nan}
  %7 = const f64 {1e-300}
  %8 = const bool {true}
  %9 = const u64 {18446744073709551615}
  %10 = extract i32 %0 {1}
  %11 = bounds i32 %4, %10 {1}
  %12 = extract ptr %0 {0}
  %13 = offset ptr %12, %11 {12}
  %14 = load f32 %13 {8}
  %15 = call vec3f %14, %5 {@spread}
  store %13, %15 {0}
  check %8 {0}
  branch %8 -> b1(%14, %3), b1(%6, %9)
b1(f32 %16, u64 %17):
  %18 = ge bool %16, %5
  branch %18 -> b1(%5, %17), b2
b2:
  %19 = extract f64 %2 {1}
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
    with pytest.raises(ValueError, match=r"not a line of IR text: '%4 := tid i32 \{0\}'"):
        parse(EVERYTHING.replace("%4 = tid", "%4 := tid"))
