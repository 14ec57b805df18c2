"""Launches of kernels that went through the compiler: what only both together can get wrong."""

import importlib
import linecache
import sys

import numpy as np
import pytest

import sim_node as sn
from sim_node.errors import KernelError, LaunchError
from sim_node.runtime.cell import Cell
from sim_node.runtime.plan import Plan


@pytest.fixture(autouse=True)
def cache_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("SIM_NODE_CACHE", str(tmp_path))


@sn.kernel
def fall(x: sn.array(dtype=sn.vec3), v: sn.array(dtype=sn.vec3), g: sn.vec3, dt: float, ahead: int,
         x_next: sn.array(dtype=sn.vec3), v_next: sn.array(dtype=sn.vec3)):  # fmt: skip
    i = sn.tid()
    v_next[i] = v[i] + dt * g
    x_next[i + ahead] = x[i] + dt * v_next[i]


@sn.kernel
def divide(a: sn.array(dtype=int), b: int, out: sn.array(dtype=int)):
    i = sn.tid()
    out[i] = a[i] // b
    assert out[i] < 100, "too large"


@sn.kernel
def mixed(flag: bool, u: sn.uint64, d: sn.float64, v: sn.vec2i, out: sn.array(dtype=sn.float64)):
    if flag:
        out[0] = d
        out[1] = sn.float64(u)
        out[2] = sn.float64(v[0] - v[1])


def test_vectors_scalars_and_numpy_arrays_reach_the_kernel():
    x, v = np.zeros((4, 3), np.float32), sn.ones(4, sn.vec3)
    x_next, v_next = sn.zeros(4, sn.vec3), np.zeros((4, 3), np.float32)
    sn.launch(fall, dim=3, inputs=[x, v, (0, 0, -10), 0.5, 0], outputs=[x_next, v_next])
    assert v_next.tolist() == [[1, 1, -4]] * 3 + [[0, 0, 0]]
    assert x_next.numpy().tolist() == [[0.5, 0.5, -2]] * 3 + [[0, 0, 0]]


def test_every_width_is_laid_out_as_compiled():
    out = sn.zeros(3, sn.float64)
    sn.launch(mixed, 1, [np.True_, 2**63, 1e300, sn.vec2i(-5, 7)], [out])
    assert out.numpy().tolist() == [1e300, 2.0**63, -12]


def test_what_the_kernel_stores_to_is_never_read_only_memory():
    locked = np.zeros((2, 3), np.float32)
    locked.flags.writeable = False
    free = [sn.zeros(2, sn.vec3) for _ in range(2)]
    assert (sn.launch(fall, 2, [locked, locked, (0, 0, 1), 1.0, 0], free), free[0][1][2]) == (None, 1)
    assert fall.entry.program.written == {"x_next", "v_next"}
    with pytest.raises(LaunchError, match=r"argument 'x_next'.*the kernel writes it, and it is read-only"):
        sn.launch(fall, 2, [*free, (0, 0, 1), 1.0, 0, locked, free[0]])


def line_of(kernel, text):
    first = kernel.function.__code__.co_firstlineno
    return next(n for n in range(first, first + 20) if text in linecache.getline(__file__, n))


FAULTS = [
    (lambda: sn.launch(divide, 3, [sn.full(2, 6), 1], [sn.zeros(3, int)]), "a[i]",
     "index 2 is outside array 'a' of length 2 in kernel 'divide', thread 2"),
    (lambda: sn.launch(divide, 1, [sn.full(1, 6), 0], [sn.zeros(1, int)]), "a[i]",
     "integer division by zero in a[i] // b in kernel 'divide', thread 0"),
    (lambda: sn.launch(divide, 2, [sn.array([6, -(2**31)]), -1], [sn.zeros(2, int)]), "a[i]",
     "integer overflow in a[i] // b in kernel 'divide', thread 1"),
    (lambda: sn.launch(divide, 2, [sn.array([6, 500]), 1], [sn.zeros(2, int)]), "assert",
     "too large: 500 < 100 is false in kernel 'divide', thread 1"),
]  # fmt: skip


@pytest.mark.parametrize(("act", "text", "message"), FAULTS, ids=["index", "division", "overflow", "assert"])
def test_a_stopped_thread_names_the_kernel_s_line_and_the_launch_s(act, text, message):
    with pytest.raises(KernelError) as caught:
        act()
    assert caught.value.location.file == __file__
    assert caught.value.location.line == line_of(divide, text)
    assert message in str(caught.value)
    assert caught.value.launch == f"{__file__}:{act.__code__.co_firstlineno} in <lambda>"


def test_a_plan_swaps_its_cells_from_run_to_run():
    """Two buffers each for position and velocity, exchanged after every run, against the sum in numpy."""
    cells = [Cell(sn.vec3, 2) for _ in range(4)]
    x, v, x_next, v_next = cells
    plan = Plan()
    plan.launch(fall, 2, [x, v, (0, 0, 1), 0.5, 0], [x_next, v_next])
    plan.freeze()
    buffers = [sn.zeros(2, sn.vec3) for _ in cells]
    position, speed = np.float32(0), np.float32(0)
    for _ in range(5):
        for cell, buffer in zip((x, v, x_next, v_next), buffers):
            plan.point(cell, buffer)
        plan.run()
        speed += np.float32(0.5)
        position += np.float32(0.5) * speed
        buffers = [*buffers[2:], *buffers[:2]]
        assert buffers[0][1] == [0, 0, position]


def test_a_digest_knows_the_kernel_s_code():
    @sn.kernel
    def twice(a: sn.array(dtype=int)):
        a[sn.tid()] *= 2

    @sn.kernel
    def thrice(a: sn.array(dtype=int)):
        a[sn.tid()] *= 3

    digests = set()
    for kernel in (twice, thrice, twice):
        plan = Plan()
        plan.launch(kernel, 1, [sn.zeros(1, int)])
        digests.add(plan.digest)
    assert len(digests) == 2


GAIN = 2.0


@sn.kernel
def amplify(a: sn.array(dtype=float)):
    a[sn.tid()] = GAIN


class Named:
    @sn.kernel
    def one(a: sn.array(dtype=float)):
        a[sn.tid()] = 10.0

    @staticmethod
    @sn.kernel
    def two(a: sn.array(dtype=float)):
        a[sn.tid()] = 20.0


def launched(kernel) -> float:
    a = sn.zeros(1)
    sn.launch(kernel, 1, [a])
    return a[0].item()


def test_kernels_of_one_source_have_the_values_of_their_factory():
    def factory(value):
        @sn.kernel
        def fill(a: sn.array(dtype=float)):
            a[sn.tid()] = value

        return fill

    assert [launched(factory(value)) for value in (0.25, 4, 0.25)] == [0.25, 4, 0.25]


def test_a_name_used_again_leaves_the_first_kernel_as_it_was():
    @sn.kernel
    def fill(a: sn.array(dtype=float)):
        a[sn.tid()] = 1.0

    first = fill

    @sn.kernel
    def fill(a: sn.array(dtype=float)):
        a[sn.tid()] = 2.0

    assert (launched(first), launched(fill)) == (1, 2)


def test_kernels_in_a_class():
    assert (launched(Named.one), launched(Named().one), launched(Named.two)) == (10, 10, 20)


def test_what_a_kernel_captures_is_read_at_its_first_build(monkeypatch):
    assert launched(amplify) == 2
    monkeypatch.setitem(globals(), "GAIN", 3.0)
    assert launched(amplify) == 2
    assert launched(sn.kernel(amplify.function)) == 3


def test_a_cell_of_a_notebook():
    """IPython leaves the source of a cell in linecache, under a name that is no file."""
    cell, source = "<ipython-input-1>", "@sn.kernel\ndef fill(a: sn.array(dtype=float)):\n    a[sn.tid()] = 8.0\n"
    linecache.cache[cell] = (len(source), None, source.splitlines(keepends=True), cell)
    names = {"sn": sn}
    exec(compile(source, cell, "exec", dont_inherit=True), names)
    assert launched(names["fill"]) == 8


def test_a_module_that_was_edited_and_reloaded(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    path = tmp_path / "edited_kernels.py"
    head = "import sim_node as sn\n"
    path.write_text(f"{head}@sn.kernel\ndef fill(a: sn.array(dtype=float)):\n    a[0] = 1.0\n")
    module = importlib.import_module("edited_kernels")
    first = module.fill
    assert launched(first) == 1
    path.write_text(f"{head}\n\n@sn.kernel\ndef fill(a: sn.array(dtype=float)):\n    a[0] = 1.0 + 1.0\n")
    importlib.reload(module)
    assert (launched(module.fill), launched(first)) == (2, 1)
    del sys.modules["edited_kernels"]
