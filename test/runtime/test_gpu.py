"""A GPU's toolchain: PTX that its driver takes, kept under what made it."""

from __future__ import annotations

import pytest

import sim_node as sn
from sim_node.compiler.backend.elf import ObjectError
from sim_node.compiler.frontend import lower
from sim_node.compiler.passes.pipeline import optimise
from sim_node.errors import BuildError
from sim_node.runtime.gpu import nearest, toolchain


@sn.kernel
def double(x: sn.array(dtype=float)):
    i = sn.tid()
    x[i] = 2.0 * x[i]


def test_the_newest_that_is_no_newer():
    assert [nearest(arch) for arch in (75, 76, 90, 99, 130)] == ["sm_75", "sm_75", "sm_90", "sm_90", "sm_121"]
    with pytest.raises(BuildError, match="a GPU of sm_60 is too old"):
        nearest(60)


def test_its_images_are_of_gpu_driver_and_version(simulate):
    gpu = simulate()
    chain = toolchain(gpu.device)
    assert chain.identity.startswith("sm_90+ptx81-driver13000")
    assert chain.suffix == ".cubin"
    image = chain.image(chain.text(optimise(lower(double)).entry))
    assert b".version 8.1\n.target sm_90" in image
    with pytest.raises(ObjectError, match="cuModuleLoadData"):
        chain.load(b"no code")


def test_a_driver_that_is_too_old_is_told(simulate, monkeypatch):
    gpu = simulate()
    monkeypatch.setattr(gpu.driver, "cuDriverGetVersion", lambda: (0, 11040))
    with pytest.raises(BuildError, match=r"the driver is of CUDA 11.4 and accepts PTX 7.4, not 7.8"):
        toolchain(gpu.device)
