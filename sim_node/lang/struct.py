"""Structs: classes whose annotated fields lie in memory as C lays them out."""

from __future__ import annotations

import builtins
import inspect
import sys
from typing import Any

from sim_node.dtypes import Struct, Type
from sim_node.dtypes.array import strided
from sim_node.errors import mistakes
from sim_node.lang import values  # noqa: F401 - what instances are made of
from sim_node.lang.annotation import annotation, is_open


def struct(cls: builtins.type) -> Any:
    """Make a struct type of a class: its annotations are the fields, in order; an array in it keeps its strides.

    Calling the type makes an instance, on the host and in kernels. Raises BuildTypeError for a field that is no type.
    """
    if not isinstance(cls, type):
        raise mistakes.MARKED(f"@sn.struct marks a class, not {cls!r}", remedy="put it right above a class")
    around = sys._getframe(1)  # annotations may be text, which names what is around the class
    names = {**around.f_globals, **around.f_locals}
    written = inspect.get_annotations(cls)
    fields = tuple((name, _field(cls.__name__, name, kind, names)) for name, kind in written.items())
    return Struct(cls.__name__, fields)


def _field(struct_name: str, name: str, written: object, names: dict[str, Any]) -> Type:
    if isinstance(written, str):
        try:
            written = eval(written, names)
        except Exception as error:
            what = f"field '{name}' of struct '{struct_name}', {written!r}: {type(error).__name__}: {error}"
            raise mistakes.FIELDS(what, remedy="use names of the module or of the function around it") from None
    kind = annotation(written)
    if isinstance(kind, str) or is_open(kind):
        why = kind if isinstance(kind, str) else "it is left open"
        what = f"field '{name}' of struct '{struct_name}': {why}"
        raise mistakes.FIELDS(what, remedy=f"{name}: float, {name}: sn.vec3")
    laid: Type = strided(kind)
    return laid
