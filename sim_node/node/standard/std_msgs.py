"""Float64MultiArray: any numbers, with their shape."""

from __future__ import annotations

import array
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from std_msgs.msg import Float64MultiArray, MultiArrayDimension, MultiArrayLayout

from sim_node.node.parameters import Declaration
from sim_node.node.standard.form import Form, MisfitError, Want
from sim_node.node.standard.template import Array, Template
from sim_node.part import Part


class MultiArray(Form):
    """Numbers of any shape, in C order."""

    kind = Float64MultiArray
    leading = ("data",)
    members: ClassVar = {"data": Want("any numbers", lambda _shape, _dtype: True)}
    options = (Declaration("names", (), "Labels of the axes, the last that of a vector's components; empty: none."),)

    def prototype(self, parts: Mapping[str, Part], options: Mapping[str, Any]) -> Any:
        """Make zeros, with size and stride of each axis as std_msgs/msg/MultiArrayLayout has them."""
        shape, names = parts["data"].shape, options["names"] or ("",) * len(parts["data"].shape)
        if len(names) != len(shape):
            raise MisfitError(f"names has {len(names)} names, and data has {len(shape)} axes: {list(shape)}")
        axes = [
            MultiArrayDimension(label=name, size=size, stride=math.prod(shape[axis:]))
            for axis, (name, size) in enumerate(zip(names, shape))
        ]
        return Float64MultiArray(layout=MultiArrayLayout(dim=axes), data=array.array("d", bytes(8 * math.prod(shape))))

    def views(self, template: Template, members: Sequence[str]) -> dict[str, Array]:
        """View the numbers: f64[1, n]."""
        return dict.fromkeys(members, template.rows(1, np.float64, (template.message, "data")))

    def stamped(self, message: Any) -> Sequence[Any]:
        """Return nothing: the message has no header."""
        return ()
