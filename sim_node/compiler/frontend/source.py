"""The source of a function: its syntax tree, and places in it. A file is parsed once for all functions in it."""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from sim_node.errors import Location, mistakes


@dataclass(frozen=True, slots=True)
class Source:
    """A function's tree, and the file that it is in; lines and columns are those of the file."""

    file: str
    lines: list[str]
    tree: ast.FunctionDef | ast.AsyncFunctionDef

    def location(self, node: ast.AST, caller: Location | None = None) -> Location:
        """Where a node is; columns of the tree count bytes, ours count characters."""
        line, column = getattr(node, "lineno", self.tree.lineno), getattr(node, "col_offset", 0)
        text = self.lines[line - 1].rstrip("\n") if line <= len(self.lines) else ""
        if not text.isascii():
            column = len(text.encode()[:column].decode(errors="ignore"))
        return Location(self.file, line, column, text, self.tree.name, caller)


# Of each file: its lines as linecache holds them (another list once the file has changed), and its functions by the
# line where they start, decorators included.
_parsed: dict[str, tuple[list[str], dict[int, ast.FunctionDef | ast.AsyncFunctionDef]]] = {}


def _functions(file: str, names: dict[str, Any]) -> tuple[list[str], dict[int, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Read a file, a notebook's cell or what was typed into a shell; ``names`` know the loader of a zipped module."""
    linecache.checkcache(file)
    lines = linecache.getlines(file, names)
    known = _parsed.get(file)
    if known is not None and known[0] == lines:
        return known
    functions = {}
    for node in ast.walk(ast.parse("".join(lines), file)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            functions[min([node.lineno, *(mark.lineno for mark in node.decorator_list)])] = node
    _parsed[file] = (lines, functions)
    return lines, functions


def source(function: FunctionType) -> Source:
    """Find the source of a function by its code's file and first line.

    Raises BuildError where there is no source, or where the file has changed under the running process.
    """
    code: CodeType = function.__code__
    place = Location(code.co_filename, code.co_firstlineno, 0, inside=code.co_name)
    try:
        lines, functions = _functions(code.co_filename, function.__globals__)
    except SyntaxError:
        functions = {}
        lines = ["changed"]
    if not lines:
        raise mistakes.NO_SOURCE(
            f"the source of '{code.co_name}' cannot be read, and kernels are compiled from source", place,
            "put it in a file, or use a shell that keeps its input: IPython, Jupyter, or Python 3.13 and later",
        )  # fmt: skip
    tree = functions.get(code.co_firstlineno)
    if tree is None or tree.name != code.co_name:
        raise mistakes.NO_SOURCE(
            f"'{code.co_name}' is not at this line any more: the file has changed since it was imported", place,
            "import it again, or restart the process",
        )  # fmt: skip
    return Source(code.co_filename, lines, tree)
