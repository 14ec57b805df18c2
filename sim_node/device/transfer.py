"""A copy between the host and a GPU: rows of bytes, as the driver is told of it."""

from __future__ import annotations

from typing import Any

from sim_node.device import driver


def transfer(to: int, source: int, nbytes: int, *, host: str, rows: int = 1, pitch: int = 0) -> Any:
    """Tell of a copy; ``host`` says which of both addresses is the host's: 'to' or 'source'.

    Each of the rows has so many bytes. They follow each other on the host, and are ``pitch`` bytes apart on the GPU.
    """
    found = driver.bindings()
    params, kinds = found.CUDA_MEMCPY3D(), found.CUmemorytype
    if host == "source":
        params.srcMemoryType, params.srcHost, params.srcPitch = kinds.CU_MEMORYTYPE_HOST, source, nbytes
        params.dstMemoryType, params.dstDevice, params.dstPitch = kinds.CU_MEMORYTYPE_DEVICE, to, pitch or nbytes
    else:
        params.srcMemoryType, params.srcDevice, params.srcPitch = kinds.CU_MEMORYTYPE_DEVICE, source, pitch or nbytes
        params.dstMemoryType, params.dstHost, params.dstPitch = kinds.CU_MEMORYTYPE_HOST, to, nbytes
    params.WidthInBytes, params.Height, params.Depth = nbytes, rows, 1
    return params
