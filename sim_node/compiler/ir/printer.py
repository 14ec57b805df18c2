"""The text of a module: one line a value, numbered in order, without parameter names, locations and sites.

``parser.parse`` reads it back, which proves that the text holds all that the compiler acts on; the digest is of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sim_node.compiler.ir.function import Attr, Block, Edge, Function, Module, Value
from sim_node.compiler.ir.op import Op

_WORDS = {op: op.name.lower() for op in Op}  # an enum's own look-up is Python code


def text(module: Module, names: Mapping[str, str] | None = None) -> str:
    """Print the module, the kernel first and the functions in the order of their first call.

    ``names`` replaces the functions' names; the digest does so because names change nothing.
    """
    names = names or {name: name for name in module.functions}
    return "\n".join(
        _function(module.functions[name], "kernel" if name == module.kernel else "func", names)
        for name in called_in_order(module)
    )


def called_in_order(module: Module) -> list[str]:
    """Name the functions that the kernel reaches, each once, callers before their callees."""
    order: dict[str, None] = {module.kernel: None}
    for name in (pending := [module.kernel]):
        for block in module.functions[name].blocks:
            for value in block.body:
                if value.op is Op.CALL and isinstance(value.attr, str) and value.attr not in order:
                    order[value.attr] = None
                    pending.append(value.attr)
    return list(order)


def attribute(attr: Attr) -> str:
    """Print an attribute exactly: ``repr`` of a float reads back to the same bits, and every NaN is one."""
    if attr is None:
        return ""
    if isinstance(attr, str):
        return f" {{@{attr}}}"
    return f" {{{repr(attr).lower()}}}"


def _function(function: Function, word: str, names: Mapping[str, str]) -> str:
    numbers: dict[Value, str] = {}
    labels = {block.label: f"b{i}" for i, block in enumerate(function.blocks)}
    for value in function.params:
        numbers[value] = f"%{len(numbers)}"
    for block in function.blocks:
        for value in (*block.params, *(v for v in block.body if v.type is not None)):
            numbers[value] = f"%{len(numbers)}"
    results = f" -> {', '.join(type_.text for type_ in function.results)}" if function.results else ""
    dims = f" dims {function.dims}" if function.dims != function.coordinates else ""
    head = f"{word} @{names[function.name]}({_typed(function.params, numbers)}){results}{dims} {{\n"
    return head + "".join(_block(block, numbers, labels, names) for block in function.blocks) + "}\n"


def _block(block: Block, numbers: Mapping[Value, str], labels: Mapping[str, str], names: Mapping[str, str]) -> str:
    params = f"({_typed(block.params, numbers)})" if block.params else ""
    lines = [f"{labels[block.label]}{params}:"]
    lines += [f"  {_value(value, numbers, names)}" for value in block.body]
    edges = ", ".join(_edge(edge, numbers, labels) for edge in block.edges)
    lines.append(f"  {_value(block.end, numbers, names)}{' -> ' if edges else ''}{edges}")
    return "\n".join(lines) + "\n"


def _value(value: Value, numbers: Mapping[Value, str], names: Mapping[str, str]) -> str:
    op, kind, attr = value.op, value.type, value.attr
    line = _WORDS[op] if kind is None else f"{numbers[value]} = {_WORDS[op]} {kind.text}"
    if value.args:
        line += " " + ", ".join([numbers[arg] for arg in value.args])
    return line if attr is None else line + attribute(names[str(attr)] if op is Op.CALL else attr)


def _edge(edge: Edge, numbers: Mapping[Value, str], labels: Mapping[str, str]) -> str:
    return labels[edge.target] + (f"({_list(edge.args, numbers)})" if edge.args else "")


def _list(values: Iterable[Value], numbers: Mapping[Value, str]) -> str:
    return ", ".join([numbers[value] for value in values])


def _typed(values: Iterable[Value], numbers: Mapping[Value, str]) -> str:
    return ", ".join(f"{value.type.text} {numbers[value]}" for value in values if value.type is not None)
