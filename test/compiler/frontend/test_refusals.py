"""Python that kernels refuse is named, with what to write instead."""

import ast

import pytest

from sim_node.compiler.frontend import refusals
from sim_node.errors import UnsupportedError

SNIPPETS = {
    "Await": None,  # async syntax needs an async function, which is refused first
    "AsyncFor": None,
    "AsyncWith": None,
    "AsyncFunctionDef": "¦async def g():\n    pass",
    "ClassDef": "¦class G:\n    pass",
    "Delete": "¦del n",
    "Dict": "x[0] = ¦{1: 2}",
    "DictComp": "x[0] = ¦{i: i for i in range(3)}",
    "FormattedValue": None,  # only inside an f-string
    "FunctionDef": "¦def g():\n    pass",
    "GeneratorExp": "x[0] = sum¦(i for i in range(3))",
    "Global": "¦global g",
    "Import": "¦import math",
    "ImportFrom": "¦from math import pi",
    "Interpolation": None,
    "JoinedStr": "x[0] = ¦f'{n}'",
    "Lambda": "x[0] = (¦lambda: 1)()",
    "List": "x[0] = ¦[1, 2]",
    "ListComp": "x[0] = ¦[i for i in range(3)]",
    "Match": "¦match n:\n    case 1:\n        pass",
    "Nonlocal": None,  # needs an enclosing function
    "Raise": "¦raise ValueError",
    "Set": "x[0] = ¦{1, 2}",
    "SetComp": "x[0] = ¦{i for i in range(3)}",
    "Slice": None,  # subscripts read it
    "Starred": "x[0], ¦*y = 1.0, 2.0",
    "TemplateStr": None,
    "Try": "¦try:\n    pass\nexcept ValueError:\n    pass",
    "TryStar": None,
    "TypeAlias": None,
    "With": "¦with x:\n    pass",
    "Yield": "¦yield n",
    "YieldFrom": "¦yield from x",
}


def test_every_row_is_tried_or_cannot_be():
    assert SNIPPETS.keys() == refusals.REFUSED.keys()


@pytest.mark.parametrize("name", [name for name, text in SNIPPETS.items() if text])
def test_refused(refusal, name):
    what, remedy = refusals.REFUSED[name]
    names = {"sum": abs} if name == "GeneratorExp" else {}
    refusal(SNIPPETS[name], UnsupportedError, f"{what} is not part of the kernel language", remedy, **names)


def test_all_syntax_has_a_visitor():
    """No expression or statement of this Python is met unprepared."""
    from sim_node.compiler.frontend.lower import VISITORS

    kinds = {kind for base in (ast.expr, ast.stmt) for kind in base.__subclasses__()}
    assert not {kind.__name__ for kind in kinds - VISITORS.keys()}
