import threading

import numpy as np
import pytest
from devices import COMPILED, EVERY, GPU

import sim_node as sn
from sim_node import _native
from sim_node.compiler.build import Program
from sim_node.device.cuda import UNCHECKED
from sim_node.errors import LaunchError
from sim_node.lang.kernel import Kernel
from sim_node.runtime import program
from sim_node.runtime.creation import zeros
from sim_node.runtime.launch import Launch, launch
from sim_node.runtime.plan import Plan


def written():
    """Stand for a kernel."""


def test_what_is_no_kernel_is_refused():
    with pytest.raises(LaunchError, match="only a kernel can be launched, not <function") as caught:
        launch(written, 1)
    assert str(caught.value).endswith("instead: mark written with @sn.kernel")
    with pytest.raises(LaunchError, match="only a kernel can be launched, not 3"):
        Plan().launch(3, 1)


def test_a_kernel_is_built_once_by_threads_that_come_together(kernels, monkeypatch):
    ready, builds = kernels.copy.entry.program, []
    together = threading.Barrier(4)

    def build(kernel):
        builds.append(kernel)
        return ready

    def work():
        together.wait()
        launch(fresh, 1, [zeros(1)], [zeros(1)])

    fresh = Kernel(written)
    monkeypatch.setattr(program, "build", build)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert builds == [fresh]
    assert fresh.entry.program is ready


def test_an_entry_knows_its_parameters(kernels):
    entry = kernels.step.entry
    assert isinstance(entry, _native.Entry)
    assert isinstance(entry.program, Program)
    assert entry.count == 5


@sn.kernel
def waves(x: sn.array(dtype=float), y: sn.array(dtype=float)):
    i = sn.tid()
    y[i] = sn.sin(x[i]) + x[0]


def blocks(plan):
    return [(block, most) for _, _, block, _, most, _ in plan.packed(())]


ANY = 2**31 - 1  # blocks of a launch


@EVERY
def test_no_bit_depends_on_the_blocks(device):
    x = np.linspace(-9, 9, 1000, dtype=np.float32)
    given, wanted = sn.array(x, device=device), sn.zeros(1000, device=device)
    launch(waves, 1000, [given], [wanted], device=device)
    for block, most in ((1, None), (33, 1), (128, 3), (np.int64(256), 0), (None, np.int32(2)), (None, -1)):
        apart = sn.array(np.stack([x, x], 1), device=device)[:, 0]  # a variant
        for source in (given, apart):
            for way in (launch, lambda *a, **k: launch(*a, **k, record_cmd=True).launch(), planned):
                made = sn.zeros(1000, device=device)
                way(waves, 1000, [source], [made], device=device, block_dim=block, max_blocks=most)
                assert made.numpy().tobytes() == wanted.numpy().tobytes()


def planned(*args, device, block_dim, max_blocks):
    plan = Plan(device)
    plan.launch(*args, block_dim=block_dim, max_blocks=max_blocks)
    plan.freeze()
    ((block, most),) = blocks(plan)
    assert block == (block_dim or block if device.is_cuda else 0)
    assert most == (max_blocks if device.is_cuda and max_blocks and max_blocks > 0 else ANY)
    plan.run()


@COMPILED
@pytest.mark.parametrize("block", [0, -1, 1.5, "64", True])
def test_what_is_no_number_of_threads_is_refused(device, block):
    x = sn.zeros(4, device=device)
    for start in (launch, Launch, lambda *a, device, **k: Plan(device).launch(*a, **k)):
        with pytest.raises(LaunchError, match=r"kernel 'waves': block_dim is .*, 1 or more"):
            start(waves, dim=4, inputs=[x], outputs=[x], device=device, block_dim=block)


@COMPILED
@pytest.mark.parametrize("most", [1.5, "64", True])
def test_what_is_no_number_of_blocks_is_refused(device, most):
    x = sn.zeros(4, device=device)
    for start in (launch, Launch, lambda *a, device, **k: Plan(device).launch(*a, **k)):
        with pytest.raises(LaunchError, match=r"kernel 'waves': max_blocks is .* run at once, or 0 for any number"):
            start(waves, dim=4, inputs=[x], outputs=[x], device=device, max_blocks=most)


def test_no_more_blocks_than_allowed_run_at_once(simulate, monkeypatch):
    gpu, grids = simulate(), []
    run = gpu.driver._run

    def seen(function, threads, block, params):
        grids.append((threads // block, block))
        run(function, threads, block, params)

    monkeypatch.setattr(gpu.driver, "_run", seen)
    x, y = sn.ones(1000, device=gpu.device), sn.zeros(1000, device=gpu.device)
    launch(waves, 1000, [x], [y], device=gpu.device, block_dim=64, max_blocks=6)
    assert grids == [(6, 64), (6, 64), (4, 64)]
    plan = Plan(gpu.device)
    plan.launch(waves, 1000, [x], [y], block_dim=64, max_blocks=15)
    plan.launch(waves, 1000, [x], [y], block_dim=64)
    plan.freeze()
    grids.clear()
    plan.run()
    assert grids == [(15, 64), (1, 64), (16, 64)]


@COMPILED
def test_a_block_above_the_kernels_limit_is_refused_before_the_launch(device):
    x, y = sn.ones(4, device=device), sn.zeros(4, device=device)
    if not device.is_cuda:
        launch(waves, 4, [x], [y], device=device, block_dim=2**40)
        assert y.numpy().all()
        return
    for block in (1025, 2**40):
        with pytest.raises(LaunchError, match=rf"kernel 'waves': block_dim is {block}, and on cuda:0 .* most \d+ thr"):
            launch(waves, 4, [x], [y], device=device, block_dim=block)
    assert not y.numpy().any()
    launch(waves, 4, [x], [y], device=device, block_dim=device.block_limit(program.load(waves, device).program.address))
    assert y.numpy().all()


def test_the_limit_is_that_of_the_code_that_runs(simulate, monkeypatch):
    gpu = simulate()
    x = sn.array(np.ones((4, 2), np.float32), device=gpu.device)[:, 0]
    launch(
        waves, 4, [sn.ones(4, device=gpu.device)], [sn.zeros(4, device=gpu.device)], device=gpu.device, block_dim=512
    )
    monkeypatch.setattr(gpu.driver, "cuFuncGetAttribute", lambda attribute, function: (0, 256))
    with pytest.raises(LaunchError, match=r"block_dim is 512, and on cuda:0 .* at most 256"):
        launch(waves, 4, [x], [sn.zeros(4, device=gpu.device)], device=gpu.device, block_dim=512)


@sn.kernel
def within(x: sn.array(dtype=float)):
    i = sn.tid()
    if i < x.shape[0]:
        x[i] = 1.0


@sn.kernel
def checked(x: sn.array(dtype=float)):
    x[sn.tid()] = 1.0


@pytest.mark.parametrize("kernel", [within, checked], ids=lambda kernel: kernel.name)
def test_a_gpu_is_waited_for_where_a_check_is_left_in_the_code(kernel, simulate, cache):
    for _ in range(2):  # compiled, and from the cache
        gpu = simulate()
        x = zeros(4, device=gpu.device)
        program.load(kernel, gpu.device)
        before = gpu.driver.calls["cuStreamSynchronize"]
        launch(kernel, 4, [x], device=gpu.device)
        assert gpu.driver.calls["cuStreamSynchronize"] - before == (kernel is checked)
        assert x.numpy().tolist() == [1.0] * 4
        gpu.end()


@pytest.mark.parametrize("device", ["simulated", GPU], indirect=True)
def test_code_of_a_gpu_tells_whether_a_check_is_left(device):
    told = [UNCHECKED in program.load(kernel, device).program.owner.symbols for kernel in (within, checked)]
    assert told == [True, False]
