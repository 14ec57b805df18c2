"""Makes a program that fails smaller, as long as it fails in the same way."""

from __future__ import annotations

import ast
import itertools
import time
from collections.abc import Callable, Iterator
from functools import partial


def shrunk(source: str, fails: Callable[[str], bool], seconds: float) -> str:
    """Edit a program until no edit leaves one that fails, or the time is up; what ``fails`` raises is no failure."""
    deadline = time.monotonic() + seconds
    source = ast.unparse(ast.parse(source)) + "\n"
    before = ""
    while before != source and time.monotonic() < deadline:
        before, at = source, 0
        while (smaller := _edited(source, at)) is not None and time.monotonic() < deadline:
            at += 1
            if len(smaller) < len(source) and _failing(smaller, fails):
                source, at = smaller, at - 1
    return source


def _failing(source: str, fails: Callable[[str], bool]) -> bool:
    try:
        return fails(source)
    except Exception:  # no program any more
        return False


def _edited(source: str, at: int) -> str | None:
    """Make one edit of a program, by its number; None where there is none."""
    tree = ast.parse(source)
    edit = next(itertools.islice(_edits(tree), at, None), None)
    if edit is None:
        return None
    edit()
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _edits(tree: ast.AST) -> Iterator[Callable[[], None]]:
    """Statements less, compound ones flattened, then expressions replaced by a part of them."""
    for node in ast.walk(tree):
        for _, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                for at, part in enumerate(value):
                    yield partial(_splice, value, at, [])
                    if isinstance(part, (ast.If, ast.For, ast.While)):
                        for body in (part.body, part.orelse):
                            yield from (partial(_splice, value, at, body[first:]) for first in range(len(body)))
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            for child in ast.iter_child_nodes(value) if isinstance(value, ast.expr) else ():
                if isinstance(child, ast.expr):
                    yield partial(setattr, node, name, child)
            for at, part in enumerate(value) if isinstance(value, list) else ():
                for child in ast.iter_child_nodes(part) if isinstance(part, ast.expr) else ():
                    if isinstance(child, ast.expr):
                        yield partial(value.__setitem__, at, child)


def _splice(statements: list[ast.stmt], at: int, others: list[ast.stmt]) -> None:
    statements[at : at + 1] = others or ([] if len(statements) > 1 else [ast.Pass()])
