"""Kernels compiled from C, so that launches are tested without the compiler."""

import ctypes
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from sim_node import dtypes
from sim_node.compiler.build import Program
from sim_node.compiler.ir.function import Site
from sim_node.dtypes import ArrayType
from sim_node.errors import Location
from sim_node.lang.kernel import Kernel
from sim_node.runtime import program
from sim_node.runtime.program import Entry

HERE = Path(__file__).parent

_F32, _I32 = ArrayType(dtypes.float32), ArrayType(dtypes.int32)
_AT = Location("kernels.py", 7, 4, "    y[i] = x[i]")
_SITES = {
    "copy": (Site("index", "x", _AT),),
    "stop": (
        Site("index", "x", _AT),
        Site("division", "a // b", _AT),
        Site("overflow", "a // -1", _AT),
        Site("assert", "mass > 0", _AT),
        Site("index 2", "x", _AT),
    ),
}
_PARAMS = {
    "step": (("x", _F32), ("v", _F32), ("k", dtypes.float32), ("c", dtypes.float32), ("dt", dtypes.float32)),
    "copy": (("x", _F32), ("y", _F32)),
    "stop": (("site", dtypes.int32), ("thread", dtypes.int32)),
    "wait": (("flag", _I32), ("patience", dtypes.int64)),
}
_WRITTEN = {"step": {"x", "v"}, "copy": {"y"}, "wait": {"flag"}}


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    built = tmp_path_factory.mktemp("kernels") / "kernels.so"
    root = HERE.parent.parent
    flags = ["-std=c11", "-D_GNU_SOURCE", "-O2", "-fPIC", "-shared", f"-I{root / 'src'}", f"-I{root / 'include'}"]
    subprocess.run(["cc", *flags, str(HERE / "kernels.c"), "-o", str(built)], check=True)
    return ctypes.CDLL(str(built))


def compiled(library, name, params, sites=(), written=(), dims=0):
    """A real Kernel whose program is the C function of that name."""
    exec(f"def {name}(): pass", space := {})
    address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    kernel = Kernel(space[name])
    kernel.entry = Entry(
        Program(name, address, tuple(params), sites, f"digest of {name}", library, frozenset(written), dims)
    )
    return kernel


@pytest.fixture(scope="session")
def kernels(library):
    return SimpleNamespace(
        **{
            name: compiled(library, name, _PARAMS[name], _SITES.get(name, ()), _WRITTEN.get(name, ()), 1)
            for name in _PARAMS
        }
    )


@pytest.fixture(scope="session")
def last(library):
    """Make a kernel with so many coordinates of which the last thread stops itself."""
    return lambda dims: compiled(library, "last", (), (Site("assert", "the end", _AT),), dims=dims)


@pytest.fixture
def twice(library, monkeypatch):
    """A kernel that doubles an array of two dimensions; ``builds`` lists the layouts that it was built for."""
    builds = []

    def build(_, layouts=None):
        layout = (layouts or {}).get("x", "contiguous")
        builds.append(layout)
        sites = tuple(Site("index", f"x, {one}", _AT) for one in dtypes.LAYOUTS)
        params = (("x", ArrayType(dtypes.float32, 2, layout)),)
        return compiled(library, f"twice_{layout}", params, sites, {"x"}).entry.program

    monkeypatch.setattr(program, "build", build)
    kernel = compiled(library, "twice_contiguous", ())
    kernel.entry = Entry(build(kernel))
    builds.clear()
    return SimpleNamespace(kernel=kernel, builds=builds)


@pytest.fixture(scope="session")
def echo(library):
    """Make a kernel that copies its argument block, of these parameters after ``out``, into ``out``."""
    return lambda *params: compiled(library, "echo", (("out", ArrayType(dtypes.uint64)), *params), written=("out",))
