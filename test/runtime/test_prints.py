"""What kernels print comes out as Warp writes it, in the order of the threads, and nothing of it silently gets lost."""

import numpy as np
import pytest
from devices import EVERY

import sim_node as sn
from sim_node.errors import KernelError


@sn.func
def told(name: int, value: float):
    print("told", name, value)


@sn.kernel
def values(x: sn.array(dtype=float), v: sn.vec3, m: sn.mat22, q: sn.quat, t: sn.transform, n: sn.vec2i):
    print(x[0])
    print(v)
    print(m)
    print(q)
    print(t)
    print(n, n[0] == 1, x, sep="; ", end="!\n")
    print("100%", (n[0], True))
    print()
    k = int(x[0]) - 1
    sn.print(sn.uint8(k), sn.int8(k), sn.uint64(k), sn.float16(17), sn.float64(17))


@EVERY
def test_what_is_printed(capsys, device):
    arguments = [
        sn.array([0.1], dtype=float, device=device),
        sn.vec3(1, 2, 3),
        sn.mat22(1, 2, 3, 4),
        sn.quat(1, 2, 3, 4),
    ]
    sn.launch(values, 1, [*arguments, sn.transform(1, 2, 3, 0, 0, 0, 1), sn.vec2i(1, -2)], device=device)
    assert capsys.readouterr().out.splitlines() == [
        "0.1",
        "1 2 3 ",
        "1 2 ",
        "3 4 ",
        "1 2 3 4",
        "(1 2 3) (0 0 0 1)",
        "1 -2 ; True; <type without print implementation>!",
        "100% (1, True)",
        "",
        "255 -1 18446744073709551615 17 17",
    ]


@sn.kernel
def formats(x: sn.array(dtype=float), n: sn.int16):
    sn.printf("%d%% of %5.2f|%-4s|%x %u %d", sn.tid(), x[sn.tid()], "ab", n, n, 2**40)
    sn.printf(" %s %g %c\n", n < 0, 457.5, 65)


@EVERY
def test_printf(capsys, device):
    sn.launch(formats, 2, [sn.array([1, 2.345], dtype=float, device=device), -1], device=device)
    end = "|ab  |ffff 65535 1099511627776 True 457.5 A\n"
    assert capsys.readouterr().out == f"0% of  1.00{end}1% of  2.35{end}"


@sn.kernel
def by_threads(x: sn.array(dtype=float)):
    i = sn.tid()
    if i % 2 == 1:
        told(i, x[i])
    told(-i, x[i] / 2.0)
    assert i < 3, "enough"


@EVERY
def test_threads_print_in_order_and_up_to_the_one_that_stops(capsys, device):
    with pytest.raises(KernelError, match="enough"):
        sn.launch(by_threads, 5, [sn.array(np.arange(5, dtype=np.float32), device=device)], device=device)
    wanted = ["told 0 0", "told 1 1", "told -1 0.5", "told -2 1", "told 3 3", "told -3 1.5"]
    assert capsys.readouterr().out.splitlines() == wanted


@sn.kernel
def much():
    print(sn.tid())


def test_what_does_not_fit_is_counted(capsys):
    for _ in range(2):
        sn.launch(much, 100_000)
        *kept, last = capsys.readouterr().out.splitlines()
        assert kept == [str(i) for i in range(len(kept))]
        assert len(kept) > 1000
        assert last.startswith(f"… {100_000 - len(kept)} more than the buffer")


def test_a_plan_prints_the_launches_of_each_run(capsys):
    plan = sn.Plan()
    x = np.array([3, 4], np.float32)
    plan.launch(much, 2)
    plan.launch(formats, 1, [x, 1])
    plan.launch(much, 1)
    plan.freeze()
    for _ in range(2):
        plan.run()
        assert [line[:4] for line in capsys.readouterr().out.splitlines()] == ["0", "1", "0% o", "0"]


@sn.kernel
def count(x: sn.array(dtype=float), next: sn.array(dtype=float)):
    next[0] = x[0] + 1.0
    print("x", x[0])


class Counter(sn.Plant):
    """Counts."""

    x = sn.state(float, shape=(1,))

    def build(self, plan, dt):
        plan.launch(count, 1, [self.x], [self.x.next])


def test_a_stepper_prints_what_its_ticks_do_and_no_more(capsys):
    stepper = sn.Stepper(Counter(), dt_ns=1_000_000)
    assert capsys.readouterr().out == ""
    stepper.tick(3)
    assert capsys.readouterr().out == "x 0\nx 1\nx 2\n"
    stepper.run(1_000_000, ticks=2)
    assert capsys.readouterr().out == "x 3\nx 4\n"
