from dataclasses import replace

import pytest

from sim_node.compiler.ir.function import Block, Edge, Function, Module, Value
from sim_node.compiler.ir.op import Op
from sim_node.compiler.ir.parser import parse
from sim_node.compiler.ir.verifier import VerifyError, verify
from sim_node.dtypes import bool_, float32, int32

GOOD = """
kernel @k(array<f32> %x, f32 %a, vec3f %v, bool %c, i32 %j, u32 %u, f64 %d) {
b0:
  %i = tid i32 {0}
  %n = extract i32 %x {1}
  %at = bounds i32 %i, %n {0}
  %y_p = extract ptr %x {0}
  %y_o = offset ptr %y_p, %at {4}
  %y = load f32 %y_o {0}
  %r = call f32 %y, %a {@f}
  %k = const f32 {0.5}
  check %c {1}
  branch %c -> b1(%r), b2
b1(f32 %p):
  %s1_p = extract ptr %x {0}
  %s1_o = offset ptr %s1_p, %at {4}
  store %s1_o, %p {0}
  jump -> b2
b2:
  return
}
func @f(f32 %x, f32 %y) -> f32 {
b0:
  %s = add f32 %x, %y
  return %s
}
"""

# what is written instead of what, and the rule that finds it
BROKEN = [
    ("{0.5}", "{0.1}", "0.1 is not a constant of type f32"),
    ("const f32 {0.5}", "const vec3f", "None is not a constant of type vec3f"),
    ("const f32 {0.5}", "const i32 {2147483648}", "2147483648 is not a constant of type i32"),
    ("const f32 {0.5}", "const bool {1}", "1 is not a constant of type bool"),
    ("tid i32", "tid i64", "a thread's coordinate is i32"),
    ("%s = add f32 %x, %y", "%s = add f64 %x, %y", "operands .* differ"),
    ("%s = add f32 %x, %y", "%s = add f32 %x", "takes 2 operands, has 1"),
    ("%s = add f32 %x, %y", "add %x, %y\n  %s = neg f32 %x", "has the result type None"),
    ("%s = add f32 %x, %y", "%s = and f32 %x, %y", "does not take f32"),
    ("%s = add f32 %x, %y", "%s = lt bool %x, %y", r"returns \(bool,\) where \(f32,\) is declared"),
    ("%s = add f32 %x, %y", "%s = lt f32 %x, %y", "compares .* giving f32"),
    ("%k = const f32 {0.5}", "%k = eq bool %v, %v", "compares more than scalars"),
    ("%k = const f32 {0.5}", "%k = eq bool %x, %x", r"does not take array<f32>"),
    ("%k = const f32 {0.5}", "%k = select f32 %a, %a, %a", "selects f32 or f32 by f32"),
    ("%k = const f32 {0.5}", "%k = select f32 %c, %a, %d", "selects f32 or f64 by bool"),
    ("%k = const f32 {0.5}", "%k = cast f64 %v", "changes the number of components"),
    ("%k = const f32 {0.5}", "%k = bitcast i64 %a", "changes the width"),
    ("%k = const f32 {0.5}", "%k = make vec3f %a, %a", r"\[f32, f32\] do not make a vec3f"),
    ("%k = const f32 {0.5}", "%k = extract f32 %v {3}", "leaf 3 of vec3f as f32"),
    ("%k = const f32 {0.5}", "%k = extract f32 %x {1}", "leaf 1 of array<f32> as f32"),
    ("offset ptr %y_p, %at {4}", "offset ptr %y_p, %a {4}", "does not take f32"),
    ("offset ptr %y_p, %at {4}", "offset ptr %y_p, %at", "moves ptr by i32 times None"),
    ("offset ptr %y_p, %at {4}", "offset ptr %at, %at {4}", "moves i32 by i32 times 4"),
    ("load f32 %y_o {0}", "load f32 %at {0}", "does not take i32"),
    ("load f32 %y_o {0}", "load f32 %y_o {-4}", "is at byte -4 of ptr"),
    ("store %s1_o, %p {0}", "store %at, %p {0}", "is at byte 0 of i32"),
    ("check %c {1}", "check %c {true}", "site True is not one of the function's 2"),
    ("check %c {1}", "check %j {1}", "takes a bool"),
    ("check %c {1}", "check %c, %j {1}", "the two scalars that it tells or none"),
    ("branch %c ->", "branch %j ->", "does not take i32"),
    ("branch %c -> b1(%r), b2", "branch %c -> b1(%r)", "has 1 edges"),
    ("b1(%r), b2", "b1(%r), b9", "goes to 'b9', which does not exist"),
    ("b1(%r), b2", "b1, b2", "the arguments of the edge to 'b1' do not fit"),
    ("b1(%r), b2", "b1(%at), b2", "the arguments of the edge to 'b1' do not fit"),
    ("  jump -> b2\n", "  %z = neg f32 %p\n", "is not the end of a block"),
    ("b2:\n  return", "b2:\n  return %p", r"returns \(f32,\) where \(\) is declared"),
    ("b2:\n", "b2:\n  store %y_o, %p {0}\n", "uses a value that does not dominate it"),
    ("b2:\n  return", "b2:\n  jump -> b1(%p)", "passes on a value that does not dominate it"),
    ("{@f}", "{@g}", "calls 'g', which does not exist"),
    ("call f32 %y, %a {@f}", "call f32 %y {@f}", r"passes \[f32\] to 'f', which takes \[f32, f32\]"),
    ("%k = const f32 {0.5}", "%k = call f64 %a, %a {@f}", "takes f64 from"),
    ("%s = add f32 %x, %y", "%s = call f32 %x, %y {@f}", "functions call each other in a circle: f → f"),
    ("b1(f32 %p):", "b0(f32 %p):", "two have the same label"),
    ("b0:\n  %i", "b0(f32 %q):\n  %i", "the entry has parameters"),
    ("  %k = const f32 {0.5}\n", "  return\n", "stands in the middle of a block"),
]


def test_a_good_module_passes():
    module = parse(GOOD)
    assert verify(module) is module


@pytest.mark.parametrize(("old", "new", "rule"), BROKEN, ids=[new.strip() or rule for _, new, rule in BROKEN])
def test_a_broken_rule_is_named(old, new, rule):
    assert old in GOOD
    with pytest.raises(VerifyError, match=rule):
        verify(parse(GOOD.replace(old, new, 1)))


def test_the_message_names_function_block_value_and_pass():
    with pytest.raises(VerifyError, match=r"^after fold, function 'f', block b0, value 0 \(ADD f64\): operands"):
        verify(parse(GOOD.replace("%s = add f32", "%s = add f64")), "fold")


def function(*body, params=(), results=(), sites=()):
    names = tuple("abc"[: len(params)])
    return Function("k", params, names, results, (Block("b0", (), body, Value(Op.RETURN, None)),), sites)


def test_what_text_cannot_say():
    one = Value(Op.CONST, float32, attr=1.0)
    late = Value(Op.NEG, float32, (one,))
    unsettled = Value(Op.ARG, None)
    good = Value(Op.RETURN, None)
    cases = [
        (function(late, one), "uses a value that does not dominate it"),
        (function(one, one), "is placed twice"),
        (function(Value(Op.NEG, float32, (Value(Op.CHECK, None),))), "an operand has no value"),
        (replace(function(), blocks=()), "there are none"),
        (function(params=(Value(Op.PARAM, int32, attr=1),)), "parameter 0: is not a PARAM"),
        (replace(function(), names=("a",)), "1 names for 0 parameters"),
        (function(results=(float32,)), "kernel 'k' has results"),
        (
            Function(
                "k",
                (),
                (),
                (),
                (
                    Block("b0", (), (), Value(Op.JUMP, None), (Edge("b1", (unsettled,)),)),
                    Block("b1", (unsettled,), (), good),
                ),
            ),
            "is not an ARG with a type",
        ),
        (function(Value(Op.CHECK, None, (Value(Op.CONST, bool_, attr=True),), 0)), "site 0 is not one of"),
    ]
    for broken, rule in cases:
        with pytest.raises(VerifyError, match=rule):
            verify(Module("k", {"k": broken}))
    with pytest.raises(VerifyError, match="the module has no function 'k'"):
        verify(Module("k"))
