"""The transport is the one that was asked for, else the first that the GPU has; why is always told."""

import pytest

from sim_node.device.sharing import Choice, choose

NO_HANDLES = "cuda:0 (Simulated GPU) has no inter-process handles"
NO_FILES = "cuda:0 (Simulated GPU) does not share memory by file descriptors"


@pytest.mark.parametrize(
    ("share", "export", "wanted", "choice"),
    [
        (True, True, "auto", Choice("cuda_ipc", "the first choice")),
        (True, False, "auto", Choice("cuda_ipc", "the first choice")),
        (False, True, "auto", Choice("vmm", NO_HANDLES)),
        (False, False, "auto", Choice("", f"{NO_HANDLES}; {NO_FILES}")),
        (True, True, "vmm", Choice("vmm", "asked for")),
        (True, True, "cuda_ipc", Choice("cuda_ipc", "asked for")),
        (True, False, "vmm", Choice("", NO_FILES)),
        (False, True, "cuda_ipc", Choice("", NO_HANDLES)),
    ],
)
def test_the_wanted_or_the_first_that_there_is(simulate, share, export, wanted, choice):
    gpu = simulate()
    gpu.driver.can_share, gpu.driver.can_export = share, export
    assert choose(gpu.device, wanted) == choice


def test_handles_of_events_alone_are_not_enough(simulate, monkeypatch):
    gpu = simulate()
    monkeypatch.setattr(gpu.driver, "cuIpcGetMemHandle", lambda base: (801, None))
    choice = choose(gpu.device)
    assert choice.transport == "vmm"
    assert "gives no inter-process handles: the CUDA driver's cuIpcGetMemHandle answers" in choice.why
