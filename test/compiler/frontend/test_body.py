"""Errors of a body: where they point, and what they call things."""

import ast

import pytest

from sim_node.compiler.frontend import lower
from sim_node.compiler.frontend.body import describe
from sim_node.compiler.frontend.lower import VISITORS
from sim_node.compiler.frontend.operand import Literal, Static
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import ArrayType, float32, vec3
from sim_node.errors import BuildTypeError, UnsupportedError


def test_an_error_shows_place_line_caret_and_remedy(kernel):
    made = kernel("if flag:\n    x[0] = s + n")
    with pytest.raises(BuildTypeError) as caught:
        lower(made)
    file = made.function.__code__.co_filename
    assert str(caught.value).splitlines() == [
        f"{file}:4:16: '+' mixes f32 and i32 [SN201]",
        "    x[0] = s + n",
        "           ^",
        "  instead: convert one of them: sn.int32(s) or sn.float32(n)",
    ]


def test_values_and_sites_know_their_place(kernel):
    entry = lower(kernel("x[0] = s\nassert n > 0")).entry
    assert [(site.location.line, site.location.column, site.location.inside) for site in entry.sites] == [
        (3, 4, "k"), (4, 4, "k"),
    ]  # fmt: skip
    stored = next(value for block in entry.blocks for value in block.body if value.op is Op.STORE)
    assert stored.location == entry.sites[0].location


@pytest.mark.parametrize(
    ("operand", "words"),
    [
        (Literal(1.5), "the number 1.5"), (Static(vec3), "a type"), (Static(int), "a type"),
        (Static(pytest), "a module"),
        ((Literal(1),), "a tuple"), (Value(Op.TID, float32), "f32"),
        (Value(Op.TID, ArrayType(vec3)), "an array of vec3f"),
    ],
)  # fmt: skip
def test_descriptions(operand, words):
    assert describe(operand) == words


def test_nesting_that_is_too_deep(kernel):
    with pytest.raises(UnsupportedError, match="nested too deeply"):
        lower(kernel("x[0] = " + "-(" * 180 + "s" + ")" * 180 + " + s" * 700))


def test_syntax_that_nobody_knows_yet(kernel, monkeypatch):
    """As of a Python that is newer than the table of refusals."""
    made = kernel("x[0] = s")
    monkeypatch.delitem(VISITORS, ast.Assign)
    with pytest.raises(UnsupportedError, match="Assign is not part of the kernel language"):
        lower(made)
