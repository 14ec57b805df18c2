"""Binds the name ``warp`` to sim_node in this process, so that Warp's own test files run unchanged against it.

Of ``warp`` two modules are stood in for, ``warp.config`` and ``warp.tests.unittest_utils``; the test files come from
the installed wheel, and every other name is sim_node's or missing. What sim_node does not set out to have raises
Unsupported with the reason, which unittest counts as a skip. The names of the private ``warp._src.types`` that
``warp.types`` makes public are sim_node's, and so are its tables of scalar types, so that the cases that ask for a
vector or a dtype by that path are run and not left out.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import operator
import re
import sys
import types
import unittest
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sim_node
from sim_node import dtypes
from sim_node.lang import options
from sim_node.lang.func import Func
from sim_node.lang.kernel import Kernel
from sim_node.lang.module import Module
from sim_node.runtime.array import Array

GRADIENTS, TILES, TEXTURES = "gradients", "tiles", "textures"
FRAMEWORKS, PRIVATE, CUDA = "other frameworks", "Warp's private modules", "CUDA"
REASONS = (GRADIENTS, TILES, TEXTURES, FRAMEWORKS, PRIVATE, CUDA)

# names of warp's module → why they are not ours
FOREIGN: dict[str, str] = {
    **dict.fromkeys(["grad", "adjoint", "func_grad", "func_replay"], GRADIENTS),
    **dict.fromkeys(["tile", "tile_zeros", "tile_load", "tile_store", "launch_tiled"], TILES),
    **dict.fromkeys(["to_torch", "device_to_torch", "fabricarray", "indexedfabricarray"], FRAMEWORKS),
    **dict.fromkeys(["ModuleBuildOptions", "DeterministicMode", "ScopedCapture", "capture_launch"], CUDA),
    **dict.fromkeys(["get_cuda_device_count", "get_cuda_devices"], CUDA),
    **dict.fromkeys(["is_mempool_enabled", "is_mempool_supported", "is_mempool_access_enabled"], CUDA),
    **dict.fromkeys(["is_mempool_access_supported", "is_peer_access_enabled", "is_peer_access_supported"], CUDA),
}
# modules of warp that test files import → why they are not ours
FOREIGN_MODULES = {"warp._src": PRIVATE, "warp.fem": FRAMEWORKS, "warp.sparse": FRAMEWORKS}


# what an error mentions that is about an option of functions we have → why it is not ours
MENTIONED = {"unexpected keyword argument 'adj": GRADIENTS, "the option entry_point_abi": CUDA}

# Structs that stand where test files make structs of foreign ones as they load, and the cases of those.
FOREIGN_STRUCTS = {"warp.fem": ["Sample"]}
FOREIGN_CASES = {"test_dependent_module_import": FRAMEWORKS}
# Names that test files mention as they load, and that we do not have: to use one in a case is a failure.
MISSING = ["bfloat16"]
# attributes of what Warp has in common with us → why they are not ours
FOREIGN_ATTRIBUTES: dict[str, dict[str, str]] = {
    "Array": {**dict.fromkeys(["grad", "requires_grad", "retain_grad"], GRADIENTS), "_ref": PRIVATE},
    "Func": {"user_overloads": PRIVATE, "adj": PRIVATE},
    "Kernel": {"adj": PRIVATE},
    "ArrayType": {"vars": PRIVATE},
    "Composite": {"_type_": PRIVATE, "_wp_generic_type_str_": PRIVATE},
    "Scalar": {"_type_": PRIVATE},
    "Module": dict.fromkeys(["hash_module", "resolve_options", "get_module_hash", "_get_live_kernels"], PRIVATE),
}
# the same, where it has a public name
ALIASES = {"Composite": {"_length_": "length", "_shape_": "shape", "_wp_scalar_type_": "scalar"}}


class Unsupported(unittest.SkipTest):
    """A case needs what sim_node does not set out to have; the text is one of REASONS."""


class Foreign:
    """Something of Warp's that is not ours: test files may name it as they load; to use it in a case is to skip it."""

    loading = True

    def __init__(self, name: str, reason: str) -> None:
        self._name, self._reason = name, reason

    def _use(self, *_: Any, **__: Any) -> Foreign:
        if Foreign.loading:
            return self
        raise Unsupported(self._reason)

    def __getattr__(self, name: str) -> Foreign:
        if name.startswith("__") or name == "dtype":  # numpy asks for it, of what stands as a dtype in an annotation
            raise AttributeError(name)
        return self._use()

    __call__ = __getitem__ = __iter__ = __len__ = __enter__ = __exit__ = __or__ = __ror__ = _use  # type: ignore[assignment]
    __instancecheck__ = _use  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<unsupported: {self._reason} ({self._name})>"


class Missing(Foreign):
    """A name that is missing, where a test file only mentions it."""

    def _use(self, *_: Any, **__: Any) -> Foreign:
        if Foreign.loading:
            return self
        raise AttributeError(f"module 'sim_node' has no attribute '{self._name}'")

    @property
    def __name__(self) -> str:
        return self._name

    __call__ = __getitem__ = _use  # type: ignore[assignment]


class Tape:
    """Warp's Tape as far as it goes without gradients: what is launched inside runs, backward() skips the rest."""

    def __enter__(self) -> Tape:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        raise Unsupported(GRADIENTS)


class Config(types.ModuleType):
    """Stands in for ``warp.config``: settings of Warp's compiler, which change nothing here."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None


@functools.cache
def _tables() -> dict[str, Any]:
    """Warp's tables of scalar types, of ours."""
    integers = tuple(scalar for scalar in dtypes.SCALARS if scalar.is_integer)
    floats = tuple(scalar for scalar in dtypes.SCALARS if scalar.is_float)
    return {
        "int_types": integers,
        "float_types": floats,
        "scalar_types": integers + floats,
        "np_dtype_to_warp_type": {
            key: scalar for scalar in dtypes.SCALARS for key in (scalar.numpy.type, scalar.numpy)
        },
    }


class ForeignModule(types.ModuleType):
    """A module of Warp's that is not ours: its names are Foreign, those aside that are public elsewhere."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name)
        self.__dict__["_reason"] = reason

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in FOREIGN_STRUCTS.get(self.__name__, ()):
            return sim_node.struct(type(name, (), {}))
        if self.__name__ == "warp._src" and name == "types":
            return importlib.import_module("warp._src.types")
        if self.__name__ == "warp._src.types" and name in _tables():
            return _tables()[name]
        public = importlib.import_module("sim_node.types") if self.__name__ == "warp._src.types" else None
        if name in getattr(public, "__all__", ()):
            return getattr(public, name)
        return Foreign(f"{self.__name__}.{name}", self._reason)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """``warp.x`` is ``sim_node.x`` where we have it, an empty stand-in where FOREIGN_MODULES says so, else missing."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not fullname.startswith("warp.") or fullname.startswith("warp.tests."):
            return None
        if any(fullname == name or fullname.startswith(f"{name}.") for name in FOREIGN_MODULES):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        ours = "sim_node" + fullname.removeprefix("warp")
        if importlib.util.find_spec(ours) is None:
            raise ModuleNotFoundError(f"No module named '{fullname}'", name=fullname)
        return importlib.machinery.ModuleSpec(fullname, self)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        top = ".".join(spec.name.split(".")[:2])
        if top not in FOREIGN_MODULES:
            return importlib.import_module("sim_node" + spec.name.removeprefix("warp"))
        return ForeignModule(spec.name, FOREIGN_MODULES[top])

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing: ours has run, and a stand-in is empty."""


def reason_in(text: str) -> str | None:
    """Find the reason in an error that names something foreign, as the compiler's do, or an option for gradients."""
    for mentioned, reason in MENTIONED.items():
        if mentioned in text:
            return reason
    quoted = (FOREIGN.get(name) for name in re.findall(r"'(?:wp|warp)\.(\w+)'", text))
    shown = (reason for reason in REASONS if f"<unsupported: {reason} " in text)
    return next((reason for reason in (*quoted, *shown) if reason), None)


def tests_folder() -> Path | None:
    """Find the folder of Warp's tests without importing Warp; None where warp-lang is not installed."""
    spec = importlib.util.find_spec("warp")
    places = spec.submodule_search_locations if spec is not None else None
    return next((Path(place, "tests") for place in places or () if Path(place, "tests").is_dir()), None)


def _refuse(reason: str, *_: object) -> None:
    raise Unsupported(reason)


def bind(tests: Path | str) -> None:
    """Make ``import warp`` give sim_node, with the two stand-ins and the test files of the folder."""
    config = Config("warp.config")
    options.DEFAULTS["deterministic"] = False  # as ``warp.config.deterministic`` is by default
    sys.modules["warp"] = sim_node
    sys.modules["warp.config"] = config
    for name, value in {"Tape": Tape, "config": config}.items():
        setattr(sim_node, name, value)
    for name, reason in FOREIGN.items():
        setattr(sim_node, name, Foreign(f"warp.{name}", reason))
    for name in MISSING:
        setattr(sim_node, name, Missing(name, ""))
    for owner in (Array, Func, Kernel, Module, *(kind for kind in vars(dtypes).values() if isinstance(kind, type))):
        for name, reason in FOREIGN_ATTRIBUTES.get(owner.__name__, {}).items():
            refuse = functools.partial(_refuse, reason)
            setattr(owner, name, property(refuse, refuse))
        for name, public in ALIASES.get(owner.__name__, {}).items():
            setattr(owner, name, property(operator.attrgetter(public)))
    for level, name in enumerate(["LOG_DEBUG", "LOG_INFO", "LOG_WARNING", "LOG_ERROR"]):
        setattr(sim_node, name, 10 * (level + 1))
    package = types.ModuleType("warp.tests")
    package.__path__ = [str(tests)]
    sys.modules["warp.tests"] = package
    sys.meta_path.insert(0, _Finder())
    sim_node._src = importlib.import_module("warp._src")
    sys.modules["warp.tests.unittest_utils"] = importlib.import_module("stand_in")
