"""Reads the text that the printer writes; tests of the compiler and reduced faults are written in it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

from sim_node.compiler.ir.function import Attr, Block, Edge, Function, Module, Site, Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import ArrayType, Scalar, Struct, Tuple, Type, named, pointer

_HEAD = re.compile(r"(kernel|func) @([\w.]+)\((.*)\)(?: -> (.+?))?(?: dims (\d))? \{")
_LABEL = re.compile(r"(\w+)(?:\((.*)\))?:")
_VALUE = re.compile(r"(?:%(\w+) = )?(\w+)(?: (\w+(?:<[\w<>,]*>)?))?((?:,? %\w+)*)(?: \{(.*)\})?(?: -> (.+))?")
_EDGE = re.compile(r"(\w+)(?:\(([^)]*)\))?")
_TYPED = re.compile(r"(\w+(?:<[\w<>,]*>)?) %(\w+)")
_NAME = re.compile(r"%(\w+)")
_KINDS = {Op.BOUNDS: "index", Op.CHECK: "assert", Op.PRINT: "print"}


class _Draft(NamedTuple):
    """A block whose edges are still text: they may name values that are written further down."""

    label: str
    params: tuple[Value, ...]
    body: list[Value]
    edges: list[str]


def parse(text: str) -> Module:
    """Read a module; its values have no location and its sites no subject.

    A value stands above its uses, except those by edges. Raises ValueError quoting a line that is not in the form.
    """
    functions: dict[str, Function] = {}
    kernel = ""
    lines = iter([line.strip() for line in text.splitlines() if line.strip()])
    for line in lines:
        word, name, params, results, dims = _match(_HEAD, line).groups("")
        functions[name] = _function(name, params, results, dims, list(iter(lambda: next(lines, "}"), "}")))
        kernel = name if word == "kernel" else kernel
    return Module(kernel, functions)


def _function(name: str, declared: str, results: str, dims: str, lines: list[str]) -> Function:
    values: dict[str, Value] = {}
    params = _declare(Op.PARAM, declared, values)
    names, drafts = tuple(values), list[_Draft]()
    for line in lines:
        if label := _LABEL.fullmatch(line):
            drafts.append(_Draft(label[1], _declare(Op.ARG, label[2] or "", values), [], []))
        else:
            value, edges = _value(line, values)
            drafts[-1].body.append(value)
            drafts[-1].edges.append(edges)
    blocks = tuple(
        Block(label, args, tuple(body[:-1]), body[-1], _edges(edges[-1], values)) for label, args, body, edges in drafts
    )
    kinds = {v.number: _KINDS[v.op] for block in blocks for v in block.body if v.op in _KINDS}
    sites = tuple(Site(kinds.get(i, "index"), "", None) for i in range(max(kinds, default=-1) + 1))
    types = tuple(map(_type, results.split(", "))) if results else ()
    made = Function(name, params, names, types, blocks, sites)
    return replace(made, dims=int(dims) if dims else made.coordinates)


def _declare(op: Op, declared: str, values: dict[str, Value]) -> tuple[Value, ...]:
    made = []
    for i, (kind, name) in enumerate(_TYPED.findall(declared)):
        values[name] = Value(op, _type(kind), attr=i if op is Op.PARAM else None)
        made.append(values[name])
    return tuple(made)


def _value(line: str, values: dict[str, Value]) -> tuple[Value, str]:
    name, op, kind, args, attr, edges = _match(_VALUE, line).groups("")
    result = _type(kind) if kind else None
    operands = tuple(values[arg] for arg in _NAME.findall(args))
    value = Value(Op[op.upper()], result, operands, _attribute(attr, result, Op[op.upper()]))
    if name:
        values[name] = value
    return value, edges


def _edges(text: str, values: dict[str, Value]) -> tuple[Edge, ...]:
    return tuple(Edge(label, tuple(values[arg] for arg in _NAME.findall(args))) for label, args in _EDGE.findall(text))


def _attribute(text: str, kind: Type | None, op: Op) -> Attr:
    if not text:
        return None
    if text.startswith("@"):
        return text[1:]
    if text in ("true", "false"):
        return text == "true"
    return float(text) if op is Op.CONST and isinstance(kind, Scalar) and kind.is_float else int(text)


def _type(text: str) -> Type:
    word, inner = text.partition("<")[::2]
    if not inner:
        return pointer if text == pointer.name else named(text)
    parts = _split(inner[:-1])
    if word == "array":
        dtype = _type(parts[0])
        assert not isinstance(dtype, (Tuple, ArrayType))
        return ArrayType(dtype, *(int(part) if part.isdigit() else part for part in parts[1:]))  # type: ignore[arg-type]
    types = tuple(map(_type, parts))
    return Tuple(types) if word == "tuple" else Struct("", tuple((str(i), one) for i, one in enumerate(types)))


def _split(text: str) -> list[str]:
    """Cut at the commas that stand in no brackets of their own."""
    parts, depth = [""], 0
    for letter in text:
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts if text else []


def _match(pattern: re.Pattern[str], line: str) -> re.Match[str]:
    match = pattern.fullmatch(line)
    if match is None:
        raise ValueError(f"not a line of IR text: {line!r}")
    return match
