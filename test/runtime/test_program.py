import threading

import pytest

from sim_node import _native
from sim_node.compiler.build import Program
from sim_node.errors import LaunchError
from sim_node.lang.kernel import Kernel
from sim_node.runtime import program
from sim_node.runtime.creation import zeros
from sim_node.runtime.launch import launch
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
