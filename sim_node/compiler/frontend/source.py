"""The source of a function: its syntax tree, and places in it. Nothing else of its file is parsed."""

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


_Tree = ast.FunctionDef | ast.AsyncFunctionDef

# Of each file: its lines as linecache holds them (another list once the file has changed), and its functions by the
# line where they start, decorators included; None where no function starts. Each cell that a notebook runs is a file.
_FILES = 32
_parsed: dict[str, tuple[list[str], dict[int, _Tree | None]]] = {}


def _function(file: str, first: int, names: dict[str, Any]) -> tuple[list[str], _Tree | None]:
    """Read a function of a file, a notebook's cell or what was typed into a shell; gives the lines of all, and it.

    ``names`` know the loader of a zipped module.
    """
    linecache.checkcache(file)
    lines = linecache.getlines(file, names)
    known = _parsed.get(file)
    if known is None or known[0] != lines:
        _parsed.pop(file, None)
        while len(_parsed) >= _FILES:
            del _parsed[next(iter(_parsed))]  # the one that came first
        known = _parsed[file] = (lines, {})
    functions = known[1]
    if first not in functions:
        functions[first] = _parse(lines, first)
    return lines, functions[first]


def _parse(lines: list[str], first: int) -> _Tree | None:
    """Parse the function that starts in a line: up to the first line that is indented no more and makes it whole.

    What is open there, a bracket, a string or a line that goes on, is no Python yet; so it is parsed again, with more.
    """
    if first > len(lines):
        return None
    margin = _indentation(lines[first - 1])
    # the lines above stand empty, so that the tree's lines are the file's; an indented function needs what it is in
    head = "\n" * (first - 2) + "if 1:\n" if margin else "\n" * (first - 1)
    for end in range(first, len(lines) + 1):
        after = lines[end].strip() if end < len(lines) else "."
        if not after or after[0] == "#" or (end < len(lines) and _indentation(lines[end]) > margin):
            continue
        try:
            tree = ast.parse(head + "".join(lines[first - 1 : end]))
        except SyntaxError:
            continue
        node: ast.AST = tree.body[0]
        if isinstance(node, ast.If):
            node = node.body[0]
        if not isinstance(node, _Tree):
            return None
        return node
    return None


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def source(function: FunctionType) -> Source:
    """Find the source of a function by its code's file and first line.

    Raises BuildError where there is no source, or where the file has changed under the running process.
    """
    code: CodeType = function.__code__
    place = Location(code.co_filename, code.co_firstlineno, 0, inside=code.co_name)
    lines, tree = _function(code.co_filename, code.co_firstlineno, function.__globals__)
    if not lines:
        raise mistakes.NO_SOURCE(
            f"the source of '{code.co_name}' cannot be read, and kernels are compiled from source", place,
            "put it in a file, or use a shell that keeps its input: IPython, Jupyter, or Python 3.13 and later",
        )  # fmt: skip
    if tree is None or tree.name != code.co_name:
        raise mistakes.NO_SOURCE(
            f"'{code.co_name}' is not at this line any more: the file has changed since it was imported", place,
            "import it again, or restart the process",
        )  # fmt: skip
    return Source(code.co_filename, lines, tree)
