import pytest

from sim_node.compiler.backend.strides import strides
from sim_node.compiler.ir.parser import parse
from sim_node.compiler.passes.flatten import Flat

HEAD = "kernel @k(array<f32> %x, i32 %n) {\nb0:\n  %i = tid i32 {0}\n  %j = tid i32 {1}\n  %three = const i32 {3}\n"


@pytest.mark.parametrize(
    ("lines", "want"),
    [
        ("%r = add i32 %j, %n", 1),
        ("%r = sub i32 %n, %j", -1),
        ("%r = mul i32 %j, %three", 3),
        ("%r = mul i32 %j, %n", None),
        ("%r = mul i32 %i, %n", 0),
        ("%r = sub i32 %j, %j", 0),
        ("%r = cast i64 %j", 1),
        ("%a = add i32 %j, %n\n  %r = cast i64 %a", None),  # it may go around between two lanes
        ("%a = bounds i32 %j, %n {0}\n  %r = cast i64 %a", 1),
        ("%u = cast u32 %j\n  %r = cast i64 %u", None),
        ("%r = cast i16 %j", None),
        ("%r = rem i32 %j, %n", None),
        ("%p = extract ptr %x {0}\n  %r = offset ptr %p, %j {12}", 12),
        ("%p = extract ptr %x {0}\n  %r = offset ptr %p, %i {12}", 0),
        ("%p = extract ptr %x {0}\n  %a = mul i32 %j, %three\n  %r = offset ptr %p, %a {4}", 12),
        ("%p = extract ptr %x {0}\n  %o = offset ptr %p, %i {4}\n  %r = load f32 %o {0}", 0),
        ("%p = extract ptr %x {0}\n  %o = offset ptr %p, %j {4}\n  %r = load f32 %o {0}", None),
    ],
)
def test_how_far_neighbours_are_apart(lines, want):
    function = parse(f"{HEAD}  {lines}\n  return\n}}").entry
    last = function.blocks[0].body[-1]
    assert strides(Flat(function, {}), 1)[last] == want


def test_what_goes_around_a_loop_varies():
    source = (
        f"{HEAD}  jump -> b1(%j, %i)\nb1(i32 %a, i32 %b):\n  %c = lt bool %b, %n\n  branch %c -> b1(%b, %b), b2\n"
        "b2:\n  return\n}"
    )
    function = parse(source).entry
    a, b = function.blocks[1].params
    found = strides(Flat(function, {}), 1)
    assert (found[a], found[b]) == (None, 0)
