"""What a kernel captures: Python objects around it become constants, or names of things that exist only at build."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

import sim_node
from sim_node import dtypes
from sim_node.compiler.frontend.body import Body
from sim_node.compiler.frontend.operand import Literal, Operand, Static
from sim_node.compiler.frontend.scope import PYTHON, suggestion
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.errors import BuildError, BuildNameError, BuildTypeError, UnsupportedError
from sim_node.lang.builtins import Builtin
from sim_node.lang.func import Func
from sim_node.lang.kernel import Kernel

# Functions that people reach for, by name, and what a kernel has.
_INSTEAD = {
    "arccos": "sn.acos",
    "arcsin": "sn.asin",
    "arctan": "sn.atan",
    "enumerate": "for i in range(len(a)): and then a[i]",
    "fabs": "abs",
    "fmod": "%",
    "norm": "sn.length",
    "pow": "write the product out: x * x",
    "print": "write into an array, and print that",
    "round": "sn.rint, which rounds half to even",
    "sum": "a loop that adds up",
}


def capture(body: Body, thing: object, text: str, node: Any) -> Operand:
    """Turn a Python object that a kernel mentions into an operand; ``text`` is how the kernel mentions it."""
    if isinstance(thing, np.generic):
        return _scalar(body, thing, text, node)
    if isinstance(thing, (bool, int, float)):
        exact = bool if isinstance(thing, bool) else int if isinstance(thing, int) else float
        return Literal(exact(thing))
    if isinstance(thing, tuple):
        return tuple(capture(body, part, f"{text}[{i}]", node) for i, part in enumerate(thing))
    if isinstance(thing, type) and thing in dtypes.PYTHON:
        return Static(dtypes.PYTHON[thing])
    if isinstance(thing, (ModuleType, dtypes.Scalar, dtypes.Vector, Func, Builtin)) or any(
        thing is one for one in PYTHON
    ):
        return Static(thing)
    if isinstance(thing, np.ndarray) and thing.ndim == 1 and 2 <= len(thing) <= 4 and thing.dtype.kind in "iuf":
        parts = tuple(_scalar(body, part, text, node) for part in thing)
        scalar = dtypes.element(thing.dtype)
        assert isinstance(scalar, dtypes.Scalar)
        return body.emit(Op.VECTOR, dtypes.Vector(scalar, len(parts)), parts, node)
    raise _refusal(body, thing, text, node)


def _scalar(body: Body, thing: Any, text: str, node: Any) -> Value:
    """A numpy scalar has a type, unlike Python's own numbers."""
    for scalar in dtypes.SCALARS:
        if scalar.numpy == thing.dtype:
            return body.constant(scalar, Literal(thing.item()), node)
    raise body.error(
        BuildTypeError, f"'{text}' is a {thing.dtype}, which kernels do not compute with", node,
        f"capture it as one of {', '.join(scalar.name for scalar in dtypes.SCALARS)}",
    )  # fmt: skip


def _refusal(body: Body, thing: object, text: str, node: Any) -> BuildError:
    kind = type(thing).__name__
    if isinstance(thing, Kernel):
        what, remedy = f"'{text}' is a kernel, and kernels do not call kernels", "make it an @sn.func"
    elif isinstance(thing, type) and issubclass(thing, np.generic):
        what, remedy = f"'{text}' is a type of numpy's", "convert with a type of sn's, such as sn.float64(x)"
    elif hasattr(thing, "__array_interface__") or hasattr(thing, "dtype"):
        what = f"'{text}' is an array outside of the kernel"
        remedy = "pass it as a parameter: sn.array(dtype=…)"
    elif callable(thing):
        what = f"'{text}' is Python code that cannot be compiled"
        remedy = _instead(getattr(thing, "__name__", ""))
    else:
        what = f"'{text}' is of type {kind}: kernels capture numbers, tuples of numbers, vectors, types and modules"
        remedy = "capture the number that is needed under a name of its own"
    return body.error(UnsupportedError, what, node, remedy)


def _instead(name: str) -> str:
    """What a kernel has in place of a Python function: listed above, or one of ours that has its name."""
    if name not in _INSTEAD and isinstance(getattr(sim_node, name, None), (Func, Builtin)):
        return f"sn.{name}"
    return _INSTEAD.get(name, "mark it @sn.func, or use what sim_node offers")


def captured(body: Body, name: str, node: Any) -> Operand:
    """Look a name up that the function does not assign."""
    try:
        thing = body.scope.lookup(name)
    except KeyError:
        raise body.error(
            BuildNameError, f"'{name}' is not defined", node, suggestion(name, body.scope.names()),
        ) from None  # fmt: skip
    return capture(body, thing, name, node)


def member(body: Body, module: ModuleType, name: str, text: str, node: Any) -> Operand:
    """Look an attribute of a module up."""
    try:
        thing = getattr(module, name)
    except AttributeError:
        known = [public for public in dir(module) if not public.startswith("_")]
        raise body.error(
            BuildNameError, f"module '{module.__name__}' has no '{name}'", node,
            suggestion(name, known, _prefix(text) + "{}"),
        ) from None  # fmt: skip
    return capture(body, thing, text, node)


def _prefix(text: str) -> str:
    """What comes before the last name of an attribute chain, dot included."""
    return text[: text.rindex(".") + 1]
