"""Which devices a test runs on: the GPU is left out, saying why, where there is none."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import sim_node as sn
from sim_node.device.names import Device, get_device
from sim_node.errors import DeviceError

GPU = pytest.param("cuda:0", marks=pytest.mark.gpu)
COMPILED = pytest.mark.parametrize("device", ["cpu", "simulated", GPU], indirect=True)
GPUS = pytest.mark.parametrize("device", ["simulated", GPU], indirect=True)
EVERY = pytest.mark.parametrize("device", ["cpu", "python", "simulated", GPU], indirect=True)


@cache
def absent() -> str:
    """Say why no GPU can be used; '' where one can."""
    try:
        get_device("cuda:0")
    except DeviceError as error:
        return str(error).splitlines()[0]
    return ""


def on(device: Device, value: Any, dtype: Any = None) -> Any:
    """Make an array of a numpy array where that is not the memory that the device works on."""
    if not isinstance(value, np.ndarray) or not device.is_cuda:
        return value
    return sn.array(value, dtype=dtype or (sn.vec3 if value.ndim == 2 and value.shape[1] == 3 else None), device=device)
