"""Kernels are built before they are launched, when that is asked for."""

import sys
import types
from typing import Any

import pytest

import sim_node as sn
from sim_node.errors import BuildError, DeviceError
from sim_node.runtime import program


@pytest.fixture
def apart():
    """A module of its own with a kernel, and one in a module inside."""
    made = {}
    for name in ("apart_from", "apart_from.inside"):
        module = types.ModuleType(name)
        exec("import sim_node as sn", module.__dict__)
        sys.modules[name] = made[name] = module

    def one(x: sn.array[float]):
        x[sn.tid()] = 1.0

    for module in made.values():
        module.one = sn.Kernel(one)
    yield made
    for name in made:
        del sys.modules[name]


@sn.kernel
def here(x: sn.array[float]):
    x[sn.tid()] = 2.0


def test_a_module_is_loaded_by_name(apart):
    outer, inner = (module.one for module in apart.values())
    sn.load_module("apart_from")
    assert outer.entry is not None
    assert inner.entry is None
    sn.load_module("apart_from", recursive=True, device="cpu")
    assert inner.entry is not None


def test_the_callers_module_is_the_default():
    sn.load_module()
    assert here.entry is not None


def test_several_are_forced(apart):
    sn.force_load("cpu", ["apart_from.inside", "not_there"])
    assert [module.one.entry is None for module in apart.values()] == [True, False]


def test_a_kernel_that_cannot_be_compiled_says_so(apart):
    def wrong(x: sn.array[float]):
        x[sn.tid()] = unknown  # noqa: F821

    apart["apart_from"].wrong = sn.Kernel(wrong)
    with pytest.raises(BuildError, match="undefined symbol: unknown"):
        sn.load_module("apart_from")


def test_kernels_of_open_types_wait_for_their_launch(apart):
    def double(x: sn.array[Any]):
        x[sn.tid()] *= 2

    apart["apart_from"].double = sn.Kernel(double)
    sn.load_module("apart_from")
    assert apart["apart_from"].double.entry is None


def test_an_unknown_device_is_refused():
    for load in (sn.load_module, sn.force_load):
        with pytest.raises(DeviceError, match="cuda:7"):
            load(device="cuda:7")


def test_a_module_is_loaded_for_the_device_that_is_asked_for(apart, simulate):
    device, (outer, _) = simulate().device, (module.one for module in apart.values())
    sn.load_module("apart_from", device=device)
    assert outer.entry is None
    assert program._elsewhere[outer].keys() == {device}
