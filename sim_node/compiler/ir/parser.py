"""Reads the text that the printer writes; tests of the compiler and reduced faults are written in it."""

from __future__ import annotations

import re
from typing import NamedTuple

from sim_node.compiler.ir.function import Attr, Block, Edge, Function, Module, Site, Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import ELEMENTS, ArrayType, Element, Scalar, Type

_HEAD = re.compile(r"(kernel|func) @([\w.]+)\((.*)\)(?: -> (.+))? \{")
_LABEL = re.compile(r"(\w+)(?:\((.*)\))?:")
_VALUE = re.compile(r"(?:%(\w+) = )?(\w+)(?: (array<\w+>|\w+))?((?:,? %\w+)*)(?: \{(.*)\})?(?: -> (.+))?")
_EDGE = re.compile(r"(\w+)(?:\(([^)]*)\))?")
_TYPED = re.compile(r"(?:array<(\w+)>|(\w+)) %(\w+)")
_NAME = re.compile(r"%(\w+)")
_ELEMENTS: dict[str, Element] = {repr(element): element for element in ELEMENTS.values()}
_KINDS = {Op.BOUNDS: "index", Op.CHECK: "assert"}


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
        word, name, params, results = _match(_HEAD, line).groups("")
        functions[name] = _function(name, params, results, list(iter(lambda: next(lines, "}"), "}")))
        kernel = name if word == "kernel" else kernel
    return Module(kernel, functions)


def _function(name: str, declared: str, results: str, lines: list[str]) -> Function:
    named: dict[str, Value] = {}
    params = _declare(Op.PARAM, declared, named)
    names, drafts = tuple(named), list[_Draft]()
    for line in lines:
        if label := _LABEL.fullmatch(line):
            drafts.append(_Draft(label[1], _declare(Op.ARG, label[2] or "", named), [], []))
        else:
            value, edges = _value(line, named)
            drafts[-1].body.append(value)
            drafts[-1].edges.append(edges)
    blocks = tuple(
        Block(label, args, tuple(body[:-1]), body[-1], _edges(edges[-1], named)) for label, args, body, edges in drafts
    )
    kinds = {v.number: _KINDS[v.op] for block in blocks for v in block.body if v.op in _KINDS}
    sites = tuple(Site(kinds.get(i, "index"), "", None) for i in range(max(kinds, default=-1) + 1))
    return Function(name, params, names, tuple(map(_type, results.split(", "))) if results else (), blocks, sites)


def _declare(op: Op, declared: str, named: dict[str, Value]) -> tuple[Value, ...]:
    values = []
    for i, (array, element, name) in enumerate(_TYPED.findall(declared)):
        named[name] = Value(op, _type(f"array<{array}>" if array else element), attr=i if op is Op.PARAM else None)
        values.append(named[name])
    return tuple(values)


def _value(line: str, named: dict[str, Value]) -> tuple[Value, str]:
    name, op, kind, args, attr, edges = _match(_VALUE, line).groups("")
    result = _type(kind) if kind else None
    operands = tuple(named[arg] for arg in _NAME.findall(args))
    value = Value(Op[op.upper()], result, operands, _attribute(attr, result, Op[op.upper()]))
    if name:
        named[name] = value
    return value, edges


def _edges(text: str, named: dict[str, Value]) -> tuple[Edge, ...]:
    return tuple(Edge(label, tuple(named[arg] for arg in _NAME.findall(args))) for label, args in _EDGE.findall(text))


def _attribute(text: str, kind: Type | None, op: Op) -> Attr:
    if not text:
        return None
    if text.startswith("@"):
        return text[1:]
    if text in ("true", "false"):
        return text == "true"
    return float(text) if op is Op.CONST and isinstance(kind, Scalar) and kind.is_float else int(text)


def _type(text: str) -> Type:
    return ArrayType(_ELEMENTS[text[6:-1]]) if text.startswith("array<") else _ELEMENTS[text]


def _match(pattern: re.Pattern[str], line: str) -> re.Match[str]:
    match = pattern.fullmatch(line)
    if match is None:
        raise ValueError(f"not a line of IR text: {line!r}")
    return match
