"""A run of several rounds is one launch of a graph, and ends and fails as the host's rounds do."""

from __future__ import annotations

import numpy as np
import pytest
from devices import COMPILED, GPU, on

import sim_node as sn
from sim_node.errors import KernelError
from sim_node.runtime.rounds import Closing, Rounds

GPUS = pytest.mark.parametrize("device", ["simulated", GPU], indirect=True)


@sn.kernel
def follow(x: sn.array(dtype=sn.int32), y: sn.array(dtype=sn.int32), turn: sn.array(dtype=sn.int32)):
    i = sn.tid()
    y[i] = x[i] * 3 + turn[0]


@sn.kernel
def count(limit: sn.int32, turn: sn.array(dtype=sn.int32)):
    print("turn", turn[0])
    assert turn[0] < limit
    turn[0] = turn[0] + 1


@sn.kernel
def total(x: sn.array(dtype=sn.int32), sums: sn.array(dtype=sn.int32)):
    sn.atomic_add(sums, 0, x[sn.tid()])


class Several(sn.Plan):
    """A plan whose runs are of several rounds."""

    def __init__(self, device, rounds):
        super().__init__(device)
        self.wanted = rounds

    def _end(self):
        if self.device.is_cuda:
            self._run_by(Rounds(self, self.wanted))
        else:
            self.end(self.wanted)


@pytest.mark.parametrize("rounds", [1, 2, 3, 4, 7])
@COMPILED
def test_each_round_runs_every_launch(device, rounds):
    plan = Several(device, rounds)
    x, turn = sn.zeros(5, dtype=sn.int32, device=device), sn.zeros(1, dtype=sn.int32, device=device)
    plan.launch(follow, dim=5, inputs=[x], outputs=[x, turn])
    plan.launch(count, dim=1, inputs=[1000], outputs=[turn])
    plan.freeze()
    expected = 0
    for turns in (0, rounds):
        plan.run()
        for number in range(turns, turns + rounds):
            expected = expected * 3 + number
        assert np.array(x).tolist() == [np.int32(expected)] * 5
    assert np.array(turn).tolist() == [2 * rounds]


@COMPILED
def test_the_first_round_with_an_error_is_told_and_prints_end_there(device, capfd):
    plan = Several(device, 5)
    turn = on(device, np.zeros(1, np.int32))
    x = sn.zeros(5, dtype=sn.int32, device=device)
    plan.launch(follow, dim=5, inputs=[x], outputs=[x, turn])
    plan.launch(count, dim=1, inputs=[2], outputs=[turn])
    plan.freeze()
    with pytest.raises(KernelError, match="turn") as caught:
        plan.run()
    assert caught.value.kernel == "count"
    assert [line.split()[-1] for line in capfd.readouterr().out.splitlines()] == ["0", "1", "2"]


@GPUS
def test_what_closes_a_run_adds_up_what_the_last_round_left(device):
    closing, sums = sn.Plan(device), sn.zeros(1, dtype=sn.int32, device=device)
    plan = sn.Plan(device)
    value, following = (sn.runtime.cell.Cell(sn.int32, 5) for _ in range(2))
    turn = sn.array([4], dtype=sn.int32, device=device)
    plan.launch(follow, dim=5, inputs=[value], outputs=[following, turn])
    closing.launch(total, dim=5, inputs=[sn.runtime.cell.Cell(sn.int32, 5)], outputs=[sums])
    rounds = Rounds(plan, 1, closing=Closing(closing, (1,), sums))
    plan._run_by(rounds)
    x, y = sn.array([1, 2, 3, 4, 5], dtype=sn.int32, device=device), sn.zeros(5, dtype=sn.int32, device=device)
    plan.point(value, x)
    plan.point(following, y)
    assert rounds.summed == sums.ptr
    for run in (1, 2):
        plan.run()
        assert np.array(y).tolist() == [7, 10, 13, 16, 19]
        assert np.array(sums).tolist() == [65 * run]  # until what follows zeroes it


@GPUS
def test_the_host_is_told_what_giving_work_to_the_gpu_took(device):
    plan = sn.Plan(device)
    turn = sn.zeros(1, dtype=sn.int32, device=device)
    plan.launch(count, dim=1, inputs=[9], outputs=[turn])
    plan.freeze()
    assert plan.host_ns == 0
    plan.run()
    assert plan.host_ns > 0
