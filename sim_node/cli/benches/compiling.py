"""A process of the compile bench: imports one contender, then makes every kernel of a file ready, timed.

Prints one JSON object: version, ``import_ms`` and ``build_ms``, or ``absent`` with the reason. The environment says
where the caches are.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
import time
from collections.abc import Callable
from types import ModuleType

Build = Callable[[ModuleType], object]


def main(contender: str, file: str, compiles: str = "") -> None:
    """Import the contender, and the compiler where it ``compiles``, then read the file and build its kernels."""
    begin = time.perf_counter()
    try:
        version, build = {"sim_node": _ours, "warp": _warp, "numba": _numba}[contender]()
        if compiles and contender == "sim_node":
            importlib.import_module("llvmlite.binding")
    except ImportError as absent:
        print(json.dumps({"absent": f"{absent}; make setup BENCH=1 brings it"}))
        return
    imported = time.perf_counter()
    spec = importlib.util.spec_from_file_location("plants", file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["plants"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    build(module)
    built = time.perf_counter()
    figures = {"import_ms": (imported - begin) * 1e3, "build_ms": (built - imported) * 1e3}
    print(json.dumps({"version": version, **figures}))


def _ours() -> tuple[str, Build]:
    package = importlib.import_module("sim_node")
    for name in dir(package):  # what is imported on first use is an import, too
        getattr(package, name)
    return str(package.__version__), lambda module: package.load_module(module.__name__)


def _warp() -> tuple[str, Build]:
    warp = importlib.import_module("warp")
    warp.config.quiet = True
    warp.config.enable_backward = False
    warp.init()
    return str(warp.__version__), lambda module: warp.load_module(module, device="cpu")


def _numba() -> tuple[str, Build]:
    numba = importlib.import_module("numba")
    return str(numba.__version__), lambda _: None  # what has a signature is compiled where it is defined


if __name__ == "__main__":
    main(*sys.argv[1:])
