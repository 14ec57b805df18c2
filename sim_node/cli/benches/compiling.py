"""A process of the compile bench: imports one contender, then makes every kernel of a file ready, timed.

Prints one JSON object: version, ``import_ms`` and ``build_ms``, or ``absent`` with the reason. The environment says
where the caches are. On a GPU each contender's own way of starting the driver and making the context is import.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
import time
from collections.abc import Callable
from importlib import metadata
from types import ModuleType

from sim_node.cli.benches.absence import absence

Build = Callable[[ModuleType], object]


def main(contender: str, file: str, device: str, compiles: str = "") -> None:
    """Import the contender, and the compiler where it ``compiles``, then read the file and build its kernels."""
    try:
        print(json.dumps(_timed(contender, file, device, compiles)))
    except Exception as error:
        if contender == "sim_node":
            raise
        print(json.dumps(absence(error)))


def _timed(contender: str, file: str, device: str, compiles: str) -> dict[str, object]:
    begin = time.perf_counter()
    start = {"sim_node": _ours, "warp": _warp, "numba": _numba, "numba_cuda": _numba_cuda}[contender]
    version, build = start(device)
    if compiles and contender == "sim_node":
        importlib.import_module("llvmlite.binding")
    imported = time.perf_counter()
    spec = importlib.util.spec_from_file_location("plants", file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["plants"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    build(module)
    built = time.perf_counter()
    return {"version": version, "import_ms": (imported - begin) * 1e3, "build_ms": (built - imported) * 1e3}


def _ours(device: str) -> tuple[str, Build]:
    package = importlib.import_module("sim_node")
    for name in dir(package):  # what is imported on first use is an import, too
        getattr(package, name)
    place = package.get_device(device)
    if place.is_cuda:
        place.synchronize()  # which needs the context
    return str(package.__version__), lambda module: package.load_module(module.__name__, device=place)


def _warp(device: str) -> tuple[str, Build]:
    warp = importlib.import_module("warp")
    warp.config.quiet = True
    warp.config.enable_backward = False
    warp.init()
    if device != "cpu":
        warp.synchronize_device(device)
    return str(warp.__version__), lambda module: warp.load_module(module, device=device)


def _numba(_device: str) -> tuple[str, Build]:
    numba = importlib.import_module("numba")
    return str(numba.__version__), lambda _: None  # what has a signature is compiled where it is defined


def _numba_cuda(device: str) -> tuple[str, Build]:
    importlib.import_module("numba")
    cuda = importlib.import_module("numba.cuda")
    cuda.select_device(int(device.removeprefix("cuda:")))
    cuda.synchronize()
    return metadata.version("numba-cuda"), lambda _: None  # as for numba: compiled, and loaded, where it is defined


if __name__ == "__main__":
    main(*sys.argv[1:])
