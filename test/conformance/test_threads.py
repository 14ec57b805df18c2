"""Threads beside a GPU: others run while one waits for it, and any may use it, whatever is current there."""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import inspect
import sys
import threading
from contextlib import contextmanager

import numpy as np
import pytest
from devices import GPU

import sim_node as sn
from sim_node import _native
from sim_node.device import driver
from sim_node.errors import KernelError
from sim_node.plant import Plant, Stepper

GPUS = pytest.mark.parametrize("device", ["simulated", GPU], indirect=True)
I32 = sn.array(dtype=sn.int32)
HANG_S = 120


@sn.kernel
def churn(rounds: int, x: I32, y: I32):
    i = sn.tid()
    assert rounds >= 0
    value = x[i]
    for _ in range(rounds):
        value = value * 1664525 + 1013904223
    y[i] = value


class Churned(Plant):
    """Two states, of which readers see one, and an input."""

    rounds = sn.input(sn.int32, initial=3)
    seen = sn.state(sn.int32, shape=4, publish=True, initial=1)
    hidden = sn.state(sn.int32, shape=4, initial=2)

    def build(self, plan, dt):
        plan.launch(churn_given, 4, [self.rounds, self.seen, self.hidden], [self.seen.next, self.hidden.next])


@sn.kernel
def churn_given(rounds: I32, seen: I32, hidden: I32, seen_next: I32, hidden_next: I32):
    i = sn.tid()
    assert rounds[0] >= 0
    value = seen[i]
    for _ in range(rounds[0]):
        value = value * 1664525 + 1013904223
    seen_next[i] = value
    hidden_next[i] = hidden[i] + value


class Waits:
    """All in C that waits for a GPU, by name, made ready; with an underscore before it, what Python waits for."""

    def __init__(self, device):
        self.device = device
        self.x, self.y = (sn.zeros(4, dtype=sn.int32, device=device) for _ in range(2))
        self.stepper = Stepper(Churned(), dt_ns=1_000_000, substeps=2, device=device, keyframe_every=1)
        self.inputs = np.zeros((1, self.stepper.input_layout.size), np.uint8)
        self.plan = sn.Plan(device)
        self.plan.launch(churn, 4, [3, self.x], [self.y])
        self.plan.freeze()
        sn.launch(churn, 4, [1, self.x], [self.y], device=device)  # which builds it

    def launch(self):
        sn.launch(churn, 4, [3, self.x], [self.y], device=self.device)

    def run_a_plan(self):
        self.plan.run()

    def tick(self):
        self.stepper.tick()

    def run_a_stepper(self):
        self.stepper.run(1000, ticks=1, clock="free")

    def replay(self):
        self.stepper.replay(self.inputs, ["hidden"])

    def look_into_a_state(self):
        self.stepper.get("hidden")

    def take_a_keyframe(self):
        self.stepper.keyframe()

    def reset(self):
        self.stepper.reset()

    def make_a_stepper(self):
        Stepper(Churned(), dt_ns=1_000_000, device=self.device)

    def _read(self):
        self.y.numpy()

    def _synchronize(self):
        sn.synchronize()


WAITS = [name for name, _ in inspect.getmembers(Waits, inspect.isfunction) if not name.startswith("_")]


@pytest.mark.parametrize("wait", WAITS)
def test_c_waits_for_a_gpu_without_the_gil(simulate, wait):
    gpu = simulate()
    waits = Waits(gpu.device)
    held = ctypes.pythonapi.PyGILState_Check  # which answers 1, an error of the driver's, to a thread that has the GIL
    assert held() == 1
    functions = {name: gpu.driver.cuGetProcAddress(name.encode(), 0, 0)[1] for name in _native.DRIVER}
    functions["cuStreamSynchronize"] = ctypes.cast(held, ctypes.c_void_p).value
    _native.drive(tuple(functions.values()))
    getattr(waits, wait)()


@contextmanager
def held(device):
    """Hold the GPU's work back until another thread comes, which it does only where this one gives the GIL up.

    Gives the word that it then sets. One who waits with the GIL waits for ever, and so the process is ended.
    """
    word, began, before = device.pinned(4).cast("I"), threading.Event(), sys.getswitchinterval()
    word[0] = 0

    def release():
        began.wait()
        word[0] = 1

    thread = threading.Thread(target=release)
    thread.start()
    sys.setswitchinterval(1000)  # nobody is made to
    faulthandler.dump_traceback_later(HANG_S, exit=True)
    try:
        with device.active():
            seen = driver.call("cuMemHostGetDevicePointer", ctypes.addressof(ctypes.c_char.from_buffer(word)), 0)
            driver.call("cuStreamWaitValue32", device.stream, seen, 1, 0)  # CU_STREAM_WAIT_VALUE_GEQ
        began.set()
        yield word
    finally:
        began.set()
        thread.join()
        sys.setswitchinterval(before)
        device.synchronize()
        faulthandler.cancel_dump_traceback_later()


@pytest.mark.gpu
@pytest.mark.parametrize("wait", [*WAITS, "_read", "_synchronize"])
def test_a_wait_for_a_gpu_may_be_one_for_another_thread(wait):
    device = sn.get_device("cuda:0")
    waits = Waits(device)
    with held(device) as word:
        assert word[0] == 0
        getattr(waits, wait)()
        assert word[0] == 1


def contexts(device):
    """No context, and one that is another library's, each made current."""
    call = driver.call
    call("cuCtxSetCurrent", 0)
    yield 0
    if hasattr(driver.bindings(), "capacity"):  # simulated
        call("cuCtxSetCurrent", 99)
        yield 99
        return
    params = [None] if driver.bindings().CUDA_VERSION >= 13000 else []
    made = call("cuCtxCreate", *params, 0, call("cuDeviceGet", device.ordinal))
    yield int(made)
    call("cuCtxDestroy", made)


def use(device, kept):
    """Do one thing after another with a device."""
    yield "create", kept.setdefault("x", sn.array(np.arange(4, dtype=np.int32), device=device))
    x = kept["x"]
    yield "zeros", kept.setdefault("y", sn.zeros(4, dtype=sn.int32, device=device))
    y = kept["y"]
    yield "launch", sn.launch(churn, 4, [1, x], [y], device=device)
    yield "read", y.numpy()
    yield "write", x.fill_(3)
    yield "move", x.assign(y)
    yield "to the host", x.to("cpu")
    yield "copy", x[::2].contiguous()
    yield "interface", x.__cuda_array_interface__
    yield "lend", kept.setdefault("lent", sn.from_dlpack(x.__dlpack__(stream=-1)))
    yield "lend a copy", x.__dlpack__(dl_device=(1, 0), max_version=(1, 0))
    yield "plan", kept.setdefault("plan", sn.Plan(device))
    yield "record", kept["plan"].launch(churn, 4, [1, x], [y])
    yield "freeze", kept["plan"].freeze()
    yield "run", kept["plan"].run()
    yield "stepper", kept.setdefault("stepper", Stepper(Churned(), dt_ns=1_000_000, device=device))
    yield "tick", kept["stepper"].tick()
    yield "keyframe", kept["stepper"].keyframe()
    yield "reset", kept["stepper"].reset()
    with pytest.raises(KernelError):
        sn.launch(churn, 4, [-1, x], [y], device=device)
    yield "failed", None
    yield "synchronize", sn.synchronize()
    yield "drop", (kept.clear(), gc.collect())


@GPUS
def test_a_thread_keeps_its_context_whatever_is_done(device):
    changed, fault = [], []

    def run():
        try:
            for context in contexts(device):
                for what, _ in use(device, {}):
                    now = int(driver.call("cuCtxGetCurrent"))
                    if now != context:
                        changed.append((what, context, now))
        except BaseException as raised:
            fault.append(raised)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if fault:
        raise fault[0]
    assert not changed


@GPUS
def test_what_one_thread_made_another_uses_and_drops(device):
    kept, bits = {"x": sn.array(np.arange(4, dtype=np.int32), device=device)}, []

    def run():
        y = sn.zeros(4, dtype=sn.int32, device=device)
        sn.launch(churn, 4, [2, kept.pop("x")], [y], device=device)
        bits.append(y.numpy().tolist())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    x, y = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    sn.launch(churn, 4, [2, x], [y])
    assert bits == [y.tolist()]
