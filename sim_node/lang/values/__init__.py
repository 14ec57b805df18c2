"""Values of composite types on the host, with the kernels' arithmetic: what calling a type gives.

The types themselves are ``sim_node.dtypes``'; users get them from here, so that they can make values.
"""

from __future__ import annotations

from typing import Any

from sim_node import dtypes
from sim_node.lang.values import vector
from sim_node.lang.values.value import CLASSES

for _kind, _class, _make in ((dtypes.Vector, vector.VectorValue, vector.make),):
    CLASSES[_kind] = _class
    dtypes.MAKE[_kind] = _make


def __getattr__(name: str) -> Any:
    try:
        return getattr(dtypes, name)
    except AttributeError:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'") from None
