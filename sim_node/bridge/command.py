"""A command on its way into a buffer of its input."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim_node.errors import RingError


def fill(buffer: np.ndarray[Any, Any], name: str, command: Any) -> None:
    """Copy a command for the input of that name into a buffer of the input's shape and type.

    Raises RingError when the value does not fit these.
    """
    try:
        np.copyto(buffer, command, casting="same_kind")
    except (TypeError, ValueError) as error:
        raise RingError(
            f"input '{name}' takes {buffer.dtype} of shape {buffer.shape}, "
            f"not {np.asarray(command).dtype} of shape {np.shape(command)}"
        ) from error
