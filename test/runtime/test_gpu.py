"""A GPU's toolchain: PTX that its driver takes, kept under what made it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import sim_node as sn
from sim_node.compiler import bundle
from sim_node.compiler.backend import isa
from sim_node.compiler.backend.elf import ObjectError
from sim_node.compiler.backend.toolchain import NATIVE
from sim_node.compiler.build import member
from sim_node.compiler.frontend import lower
from sim_node.compiler.passes.pipeline import optimise
from sim_node.errors import BuildError, BundleError
from sim_node.runtime import program
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


@pytest.fixture
def bundled(cache, tmp_path, monkeypatch):
    """Write a bundle for GPUs and use it; in place of PTX it holds what a simulated driver links and loads."""

    def write(*names, mark=".version"):
        targets = [isa.gpu(name) for name in names]
        code = NATIVE.image(NATIVE.text(optimise(lower(double)).entry))
        images = {target: code + f"{mark} {target.name}".encode() for target in targets}
        made = replace(member(double, {}, []), images=images)
        bundle.write(tmp_path / "made", targets, [made])
        monkeypatch.setattr(bundle, "_used", {})
        monkeypatch.setenv("SIM_NODE_BUNDLE", str(tmp_path / "made"))
        monkeypatch.setattr(program, "toolchain", toolchain)  # that of GPUs, and not the simulated one

    return write


def doubled(gpu):
    x = sn.array(np.arange(4, dtype=np.float32), device=gpu.device)
    sn.launch(double, 4, [x], device=gpu.device)
    return x.numpy().tolist()


@pytest.mark.parametrize(("names", "taken"), [(("sm_80", "sm_89", "sm_100"), "sm_89"), (("sm_80", "sm_90"), "sm_90")])
def test_a_launch_takes_a_bundles_ptx_and_the_cache_what_the_driver_makes_of_it(simulate, bundled, cache, names, taken):
    gpu = simulate()
    bundled(*names)
    assert doubled(gpu) == [0, 2, 4, 6]
    assert gpu.driver.linked.endswith(f".version {taken}".encode())
    (kept,) = cache.glob("*.cubin")
    assert kept.name.startswith("sm_90+ptx81-driver13000")
    assert "-bundled-" in kept.name
    gpu.end()
    again = simulate()
    bundled(*names)
    assert doubled(again) == [0, 2, 4, 6]
    assert not hasattr(again.driver, "linked")


def test_a_bundle_for_newer_gpus_is_passed_by(simulate, bundled):
    gpu = simulate()
    bundled("sm_100", "sm_120")
    with pytest.raises(ObjectError):  # real PTX, which the simulated driver cannot load
        doubled(gpu)
    assert b".target sm_90" in gpu.driver.linked


def test_ptx_that_the_driver_refuses_is_named(simulate, bundled):
    gpu = simulate()
    bundled("sm_90", mark="no ptx")
    with pytest.raises(
        BundleError, match=r"made/sm_90/double-.*\.ptx: the driver refuses it: .*cuLinkAddData.*\n?.*no instruction"
    ):
        doubled(gpu)


def test_tampered_ptx_never_reaches_the_driver(simulate, bundled, tmp_path):
    gpu = simulate()
    bundled("sm_90")
    (file,) = tmp_path.glob("made/sm_90/*.ptx")
    file.write_bytes(file.read_bytes() + b" ")
    with pytest.raises(BundleError, match="is not what the manifest says"):
        doubled(gpu)
    assert not hasattr(gpu.driver, "linked")
