"""Printing is refused where its text would not be what the author means."""

import pytest

import sim_node as sn
from sim_node.compiler.frontend import lower
from sim_node.compiler.ir.op import Op
from sim_node.compiler.passes.pipeline import optimise
from sim_node.errors import BuildError

WHO = "captured"


@sn.kernel
def few_values(x: sn.array(dtype=float)):
    sn.printf("%d %d\n", 1)


@sn.kernel
def float_as_integer(x: sn.array(dtype=float)):
    sn.printf("%d\n", x[0])


@sn.kernel
def integer_as_float(n: int):
    sn.printf("%f\n", n)


@sn.kernel
def no_conversion(n: int):
    sn.printf("%y\n", n)


@sn.kernel
def no_text(n: int):
    sn.printf(n)


@sn.kernel
def to_a_file(n: int):
    print(n, file=n)


@sn.kernel
def all_of(n: sn.vec3):
    print(*n)


@sn.kernel
def as_a_value(n: int):
    n = print(n)


@sn.kernel
def by_a_number(n: int):
    print(n, sep=n)


@sn.kernel
def of_nothing(n: int):
    sn.printf()


@sn.kernel
def too_much(n: sn.array[sn.mat44]):
    a = n[0]
    print(a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a)


@pytest.mark.parametrize(
    ("kernel", "what"),
    [
        (few_values, "the format has 2 conversions, and 1 values follow"),
        (float_as_integer, r"'%d' does not write 'x\[0\]', which is f32"),
        (integer_as_float, r"'%f' does not write 'n', which is i32"),
        (no_conversion, "'%y' in the format is no conversion"),
        (no_text, "the format of sn.printf is text that the build knows"),
        (to_a_file, "print has no 'file'"),
        (by_a_number, "'sep' is text"),
        (of_nothing, "sn.printf takes a format, and a value for each"),
        (all_of, "what is printed is written one by one"),
        (as_a_value, "'print' returns nothing"),
        (too_much, "one call prints 256 numbers at most, and these are 272"),
    ],
)
def test_refusals(kernel, what):
    with pytest.raises(BuildError, match=what):
        lower(kernel)


@sn.kernel
def captured(n: int):
    print(WHO, n)


def test_text_is_in_the_site_and_each_number_a_word():
    entry = optimise(lower(captured)).entry
    (value,) = (value for block in entry.blocks for value in block.body if value.op is Op.PRINT)
    assert entry.sites[value.number].subject == "captured %d\n"
    assert [arg.type for arg in value.args] == [sn.int64]
