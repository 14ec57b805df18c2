"""What lies outside of a kernel and cannot come in: what each is called, and what to do instead."""

from __future__ import annotations

from types import MethodType, ModuleType

import numpy as np

import sim_node
from sim_node import dtypes
from sim_node.compiler.frontend.scope import PYTHON
from sim_node.dtypes import is_class
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
    "round": "sn.rint, which rounds half to even",
    "sum": "a loop that adds up",
}


def known(thing: object) -> bool:
    """Whether the language gives the thing a meaning where it stands: to be called, or to have a part taken of it."""
    named = isinstance(thing, (ModuleType, dtypes.Scalar, dtypes.Composite, dtypes.Struct, Func, Builtin))
    return named or any(thing is one for one in PYTHON)


def refusal(thing: object, text: str) -> tuple[str, str]:
    """Say why a kernel cannot use a thing that is not known, and what to do instead."""
    if isinstance(thing, Kernel):
        return f"'{text}' is a kernel, and kernels do not call kernels", "make it an @sn.func"
    if is_class(thing) and issubclass(thing, np.generic):
        return f"'{text}' is a type of numpy's", "convert with a type of sn's, such as sn.float64(x)"
    if isinstance(thing, MethodType):
        what = f"'{text}' is a method of an object, and kernels call funcs"
        return what, "make it an @sn.func that takes what it needs as arguments"
    if hasattr(thing, "__array_interface__") or hasattr(thing, "dtype"):
        return f"'{text}' is an array outside of the kernel", "pass it as a parameter: sn.array(dtype=…)"
    if callable(thing):
        return f"'{text}' is Python code that cannot be compiled", _instead(getattr(thing, "__name__", ""))
    captured = "numbers, tuples of numbers, vectors, types and modules"
    what = f"'{text}' is of type {type(thing).__name__}: kernels capture {captured}"
    if isinstance(thing, (list, dict)):
        return what, f"take the part that is needed at build: sn.static({text}[…])"
    return what, "capture the number that is needed under a name of its own"


def _instead(name: str) -> str:
    """What a kernel has in place of a Python function: listed above, or one of ours that has its name."""
    if name not in _INSTEAD and isinstance(getattr(sim_node, name, None), (Func, Builtin)):
        return f"sn.{name}"
    return _INSTEAD.get(name, "mark it @sn.func, or use what sim_node offers")
