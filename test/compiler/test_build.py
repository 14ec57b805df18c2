import copy
import ctypes
import gc
import os
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from samples import LENGTH, SAMPLES, arguments, as_python

import sim_node as sn
from sim_node.compiler import build
from sim_node.compiler.backend.target import HOST, TARGETS, target
from sim_node.compiler.backend.toolchain import NATIVE, toolchain
from sim_node.compiler.cache import Cache
from sim_node.compiler.frontend import lower
from sim_node.compiler.frontend.fingerprint import fingerprint
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.parser import parse
from sim_node.compiler.passes.rebuild import with_args
from sim_node.errors import BuildError, Location
from sim_node.lang.builtins import thread

RACES = {"swap_elements"}  # threads read what others write: only one after the other gives Python's result


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """A cache of this module's own."""
    before, path = os.environ.get("SIM_NODE_CACHE"), tmp_path_factory.mktemp("cache")
    os.environ["SIM_NODE_CACHE"] = str(path)
    yield path
    del os.environ["SIM_NODE_CACHE"]
    if before is not None:
        os.environ["SIM_NODE_CACHE"] = before


def run(program, pack, args, begin, end):
    error = ctypes.create_string_buffer(32)
    kernel = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_char_p, ctypes.c_char_p)
    kernel(program.address)(begin, end, pack([kind for _, kind in program.params], args), error)
    assert struct.unpack_from("<I", error)[0] == 0


@pytest.mark.parametrize("name", SAMPLES)
def test_machine_code_computes_what_python_does(name, pack):
    kernel = SAMPLES[name]
    program = build.build(kernel)
    for seed in range(3):
        args = arguments(kernel, seed)
        python, whole = as_python(copy.deepcopy(args), kernel), copy.deepcopy(args)
        for i in range(LENGTH):
            run(program, pack, args, i, i + 1)
            with thread(i), np.errstate(all="ignore"):
                kernel.function(*python)
        run(program, pack, whole, 0, LENGTH)
        for alone, together, wanted in zip(args, whole, python):
            np.testing.assert_array_equal(alone, np.asarray(wanted), strict=True)
            if name not in RACES:
                np.testing.assert_array_equal(together, np.asarray(wanted), strict=True)


WARM = """
import sys
from samples import SAMPLES
import sim_node as sn
from sim_node.compiler import build
built = [build.build(kernel) for kernel in SAMPLES.values()]
print(len(built), build.objects().compiled, build.objects().loaded, "llvmlite" in sys.modules)
"""


def test_a_warm_start_compiles_nothing_and_loads_no_llvm(folder):
    for kernel in SAMPLES.values():
        build.build(kernel)
    path = os.pathsep.join([str(Path(build.__file__).parents[2]), str(Path(__file__).parent)])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", WARM], capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(len(SAMPLES)), "0", str(len(SAMPLES)), "False"]


def test_what_decides_about_recompiling(tmp_path, monkeypatch):
    """Names, places and a move into a func do not; code, target, LLVM and package do."""
    store, module = Cache(tmp_path), lower(SAMPLES["arithmetic"])
    first = build.program(module, NATIVE, store)()
    entry = replace(
        module.entry, names=("a", "b", "c"), sites=tuple(s._replace(subject="?") for s in module.entry.sites)
    )
    renamed = build.program(replace(module, functions={**module.functions, module.kernel: entry}), NATIVE, store)()
    assert (renamed.address, renamed.digest, store.compiled) == (first.address, first.digest, 1)
    assert [name for name, _ in renamed.params] == ["a", "b", "c"]
    assert {site.subject for site in renamed.sites} == {"?"}
    build.program(lower(SAMPLES["captured"]), NATIVE, store)()
    assert store.compiled == 2
    build.program(module, toolchain(replace(HOST, name="another")), store)()
    assert store.compiled == 3
    monkeypatch.setattr(build, "backend", lambda: "another")
    build.program(module, NATIVE, store)()
    assert store.compiled == 4


def test_a_captured_value_is_part_of_the_key(tmp_path):
    store, kernel = Cache(tmp_path), SAMPLES["captured"]
    before = build.program(lower(kernel), NATIVE, store)()
    namespace = kernel.function.__globals__
    gain = namespace["GAIN"]
    namespace["GAIN"] = gain + 1
    try:
        after = build.program(lower(kernel), NATIVE, store)()
    finally:
        namespace["GAIN"] = gain
    assert before.digest != after.digest
    assert store.compiled == 2
    assert build.program(lower(kernel), NATIVE, store)().address == before.address


FUSED = """
kernel @fused(array<f32> %y, f32 %x) {
b0:
  %i = tid i32 {0}
  %z = fma f32 %x, %x, %x
  %s1_p = extract ptr %y {0}
  %s1_o = offset ptr %s1_p, %i {4}
  store %s1_o, %z {0}
  return
}
"""


@pytest.mark.skipif(not target("x86-64-v3").runs, reason="needs a processor of level 3")
def test_a_processor_without_the_instruction_is_told(tmp_path):
    module = parse(FUSED)
    block = module.entry.blocks[0]
    at = Location("plant.py", 12, 8, "    y[i] = sn.fma(x, x, x)", "fused")
    plain, last = block.body[1], block.body[-1]
    fma = Value(plain.op, plain.type, plain.args, plain.attr, at)
    store = with_args(last, (last.args[0], fma))
    body = (block.body[0], fma, *block.body[2:-1], store)
    entry = replace(module.entry, blocks=(block._replace(body=body),))
    fused = replace(module, functions={"fused": entry})
    build.program(fused, toolchain(target("x86-64-v3")), Cache(tmp_path))()
    with pytest.raises(
        BuildError, match=r"^plant.py:12:9: target 'x86-64-v2' lacks .* 'fused' needs .*'fmaf'"
    ) as caught:
        build.program(fused, toolchain(target("x86-64-v2")), Cache(tmp_path))()
    assert "FMA3" in str(caught.value)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_kernel_that_was_built_is_known_without_lowering(name, monkeypatch):
    kernel = SAMPLES[name]
    made = build.build(kernel)
    if fingerprint(kernel) is None:
        pytest.skip("it has no fingerprint")
    build._objects.cache_clear()
    monkeypatch.setattr(build, "lower", None)
    known = build.build(kernel)
    for part in ("name", "params", "sites", "digest", "written", "dims"):
        assert getattr(known, part) == getattr(made, part), part


def test_nearly_every_sample_has_a_fingerprint():
    without = [name for name, kernel in SAMPLES.items() if fingerprint(kernel) is None]
    assert len(without) * 10 <= len(SAMPLES), without


@pytest.mark.parametrize("generic", [one.name for one in TARGETS.values() if one.runs and one is not HOST])
def test_every_target_gives_the_same_bits(generic, pack):
    for name in [name for name in SAMPLES if name not in RACES][::6]:
        kernel = SAMPLES[name]
        try:
            there = build.program(lower(kernel), toolchain(target(generic)), build.objects())()
        except BuildError:  # it lacks an instruction that the kernel needs
            continue
        here, host, other = build.build(kernel), arguments(kernel, 7), arguments(kernel, 7)
        run(here, pack, host, 0, LENGTH)
        run(there, pack, other, 0, LENGTH)
        for one, two in zip(host, other):
            np.testing.assert_array_equal(one, two, strict=True)


def test_what_is_built_is_held_only_while_asked_for():
    def made():
        @sn.kernel
        def fleeting(x: sn.array(dtype=sn.int32)):
            x[sn.tid()] = 1

        build.build(fleeting)

    def names():
        gc.collect()
        return [kernel.name for kernel, _ in build.built()]

    with build.holding():
        made()
        assert "fleeting" in names()
    assert "fleeting" not in names()
    made()
    assert "fleeting" not in names()
