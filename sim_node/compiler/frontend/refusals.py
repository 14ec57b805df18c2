"""Python that kernels refuse, each by its name and with what to write instead."""

from __future__ import annotations

import ast

from sim_node.compiler.frontend.body import Body, Visit
from sim_node.errors import mistakes

_NUMBERS = "kernels compute with numbers; keep text outside"
_ARRAYS = "use arrays as parameters, and vectors for a few numbers"
_LOOP = "write a for loop over range(n)"
_IF = "test with if, and leave with return"

REFUSED: dict[str, tuple[str, str]] = {
    "AsyncFor": ("'async for'", _LOOP),
    "AsyncFunctionDef": ("an async function inside a kernel", "write an @sn.func at the level of the module"),
    "AsyncWith": ("'async with'", "do it around the launch"),
    "Await": ("'await'", "do it around the launch"),
    "ClassDef": ("a class inside a kernel", "define it at the level of the module"),
    "Delete": ("'del'", "leave the variable: it costs nothing"),
    "Dict": ("a dict", _ARRAYS),
    "DictComp": ("a dict comprehension", _LOOP),
    "FormattedValue": ("formatted text", _NUMBERS),
    "FunctionDef": ("a function inside a kernel", "write an @sn.func at the level of the module"),
    "GeneratorExp": ("a generator expression", _LOOP),
    "Global": ("'global'", "pass an array of one element to write into"),
    "Import": ("an import inside a kernel", "import at the top of the file"),
    "ImportFrom": ("an import inside a kernel", "import at the top of the file"),
    "Interpolation": ("a template string", _NUMBERS),
    "JoinedStr": ("an f-string", _NUMBERS),
    "Lambda": ("a lambda", "write an @sn.func at the level of the module"),
    "List": ("a list", _ARRAYS),
    "ListComp": ("a list comprehension", _LOOP),
    "Match": ("'match'", "write if / elif / else"),
    "Nonlocal": ("'nonlocal'", "pass an array of one element to write into"),
    "Raise": ("'raise'", "assert the condition: the launch reports it with file and line"),
    "Set": ("a set", _ARRAYS),
    "SetComp": ("a set comprehension", _LOOP),
    "Slice": ("a slice", "index one element: a[i]"),
    "Starred": ("'*'", "write each value in its place"),
    "TemplateStr": ("a template string", _NUMBERS),
    "Try": ("'try'", _IF),
    "TryStar": ("'try' with 'except*'", _IF),
    "TypeAlias": ("a type alias inside a kernel", "define it at the level of the module"),
    "With": ("'with'", "do it around the launch"),
    "Yield": ("'yield'", "write results into an array"),
    "YieldFrom": ("'yield from'", "write results into an array"),
}


def refuse(body: Body, node: ast.AST) -> None:
    """Refuse a piece of syntax by name."""
    what, remedy = REFUSED[type(node).__name__]
    raise body.error(mistakes.NOT_IN_LANGUAGE, f"{what} is not part of the kernel language", node, remedy)


# Which of these exist depends on Python's version.
VISITORS: dict[type[ast.AST], Visit] = {getattr(ast, name): refuse for name in REFUSED if hasattr(ast, name)}
