"""Coupled plants: what each was told at which tick, whatever their rates, and what is told when one leaves."""

import threading
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest
from coupled import Runner, named
from hypothesis import given, settings
from hypothesis import strategies as st

from sim_node.errors import WireError
from sim_node.wires.conductor import Conductor, conducting
from sim_node.wires.network import Coupling

LIMIT = 60.0


def coupling(source, target, delay_ns=0, output="x", input_="u"):
    return Coupling("file", named(source), output, named(target), input_, delay_ns)


@contextmanager
def rings():
    """Make plants by their names, whose rings are gone after the block."""
    with ExitStack() as stack:

        def make(name, dt_ns, gain=0.25):
            runner = Runner(name, dt_ns, gain)
            stack.callback(runner.made.close)
            return runner

        yield make


@pytest.fixture
def runners():
    """Plants by their names, gone after the test."""
    with rings() as make:
        yield make


class Told:
    """The lines that are told, to be waited for."""

    def __init__(self):
        self.lines, self.changed = [], threading.Condition()

    def __call__(self, line):
        with self.changed:
            self.lines.append(line)
            self.changed.notify_all()

    def await_(self, words):
        with self.changed:
            assert self.changed.wait_for(lambda: any(words in line for line in self.lines), LIMIT), self.lines


def expected(dts, gains, delays, ticks):
    """Compute in plain numbers what two plants come to that drive each other: the rows of x from tick 0 on."""
    rows = [[0.0], [0.0]]
    order = sorted((step * dts[k], k, step) for k in (0, 1) for step in range(ticks[k]))
    for stamp, k, step in order:
        other = 1 - k
        wanted = max(stamp - delays[k], 0) // dts[other]
        assert len(rows[k]) == step + 1
        rows[k].append(0.5 * rows[k][step] + gains[k] * rows[other][wanted] + 1.0)
    return rows


def run(made, couplings, ticks):
    """Run coupled plants for so many ticks each; gives what x is then."""
    with conducting(couplings, lambda _: None, threading.Event()), ExitStack() as clocks:
        for each, count in zip(made, ticks):
            clocks.enter_context(each.running(count))
        for each in made:
            each.thread.join(LIMIT)
            assert not each.thread.is_alive()
            assert each.fault is None
    return [each.stepper.get("x").tolist() for each in made]


RATES = st.tuples(st.integers(1, 12), st.integers(1, 12))


@settings(max_examples=12, deadline=None)
@given(RATES, st.tuples(st.integers(0, 40), st.integers(0, 40)))
def test_any_two_rates_and_delays_are_what_arithmetic_says(dts, delays):
    gains, until = (0.25, -0.5), 30 * max(dts)
    ticks = [until // dt for dt in dts]
    with rings() as make:
        made = [make(name, dt, gain) for name, dt, gain in zip("ab", dts, gains)]
        found = run(made, [coupling("b", "a", delays[0]), coupling("a", "b", delays[1])], ticks)
        seen = [each.stepper.command_statistics()["u"]["delay_ticks"] for each in made]
    rows = expected(dts, gains, delays, ticks)
    assert found == [[rows[k][-1]] * 2 for k in (0, 1)]
    assert [(delay.count, delay.max) for delay in seen] == [(count, 1) for count in ticks]


def test_three_in_a_circle_and_parts_of_fields(runners):
    made = [runners(name, 1000) for name in "abc"]
    couplings = [coupling("a", "b"), coupling("b", "c"), coupling("c", "a", output="x[0]", input_="u[1]")]
    couplings.append(coupling("b", "a", output="small[1]", input_="u[0]"))
    found = run(made, couplings, [50] * 3)
    a = b = c = np.zeros(2)
    for tick in range(50):
        told = np.array([float(tick), c[0]])
        a, b, c = 0.5 * a + 0.25 * told + 1.0, 0.5 * b + 0.25 * a + 1.0, 0.5 * c + 0.25 * b + 1.0
    assert found == [a.tolist(), b.tolist(), c.tolist()]


def test_one_that_is_paused_is_waited_for(runners):
    one, two = runners("a", 1000), runners("b", 1000)
    couplings = [coupling("a", "b"), coupling("b", "a")]
    with conducting(couplings, lambda _: None, threading.Event()), one.running(200), two.running(200):
        one.stepper.pause()
        held = one.stepper.step
        one.stepper.resume()
        for each in (one, two):
            each.thread.join(LIMIT)
        assert (one.stepper.step, two.stepper.step) == (200, 200)
        assert held <= 200


def test_one_that_is_reset_is_told_and_all_begin_anew(runners):
    told, one, two = Told(), runners("a", 1000), runners("b", 2000)
    couplings = [coupling("a", "b"), coupling("b", "a")]
    with conducting(couplings, told, threading.Event()):
        with one.running(20), two.running(10):
            for each in (one, two):
                each.thread.join(LIMIT)
        first = [each.stepper.get("x").tolist() for each in (one, two)]
        one.renew()
        told.await_("reset ")
        told.await_(f"waits for {two.name}: it is at tick 10, and couplings begin at tick 0: reset it")
        two.renew()
        with one.running(20), two.running(10):
            for each in (one, two):
                each.thread.join(LIMIT)
        assert [each.stepper.get("x").tolist() for each in (one, two)] == first


def test_one_that_goes_is_told(runners):
    told, one, two = Told(), runners("a", 1000), runners("b", 1000)
    with conducting([coupling("a", "b"), coupling("b", "a")], told, threading.Event()), two.running(0):
        one.made.close()
        told.await_(f"{one.name} is gone: its ring is closed, or its process dead; reset {one.name}, {two.name}")
        told.await_(f"waits for {one.name}: ")


def test_one_that_does_not_wait_is_told(runners):
    told, one, two = Told(), runners("a", 1000), runners("b", 1000)
    with conducting([coupling("a", "b"), coupling("b", "a")], told, threading.Event()), two.running(0):
        with one.running(100_000, clock="free"):
            one.thread.join(LIMIT)
        told.await_(f"of {one.name} came before its tick")


def test_it_waits_for_plants_until_told_to_stop():
    told, stop = Told(), threading.Event()
    conductor = Conductor([coupling("nobody", "none")], told)
    thread = threading.Thread(target=conductor.run, args=(stop,))
    thread.start()
    told.await_(f"waits for {named('nobody')}: there is no ring")
    stop.set()
    thread.join(LIMIT)
    assert not thread.is_alive()


def test_one_whose_ring_is_there_before_its_first_tick_is_waited_for(runners):
    from coupled import Part

    from sim_node.bridge import Publisher

    one, plant, told, stop = runners("a", 1000), Part(), Told(), threading.Event()
    with Publisher(plant.layout, plant.input_layout, name=named("b")):
        conductor = Conductor([coupling("a", "b"), coupling("b", "a")], told)
        thread = threading.Thread(target=conductor.run, args=(stop,))
        thread.start()
        told.await_(f"waits for {named('b')}: it has no tick yet, or has ended")
        stop.set()
        thread.join(LIMIT)
    assert one.stepper.step == 0


@pytest.mark.parametrize(
    ("couplings", "words"),
    [
        ([coupling("a", "b", output="y")], "file: no published field 'y'"),
        ([coupling("a", "b", input_="v")], "file: no input 'v'"),
        ([coupling("a", "b", output="x[0]")], "does not fit field 'u' (f64 of shape [2]): shape and type"),
        (
            [coupling("a", "b", output="way")],
            "field 'way' (f64 of shape [2]) is in m and field 'u' (f64 of shape [2]) in N",
        ),
        ([coupling("a", "b", output="x[0]", input_="u[0]")], "numbers of input 'u' of {b} are filled by nothing"),
        ([coupling("a", "b"), coupling("a", "b", output="x[0]", input_="u[0]")], "of {b} are filled twice"),
    ],
)
def test_what_does_not_fit_ends_it_with_a_reason(runners, couplings, words):
    runners("a", 1000)
    two = runners("b", 1000)
    told = Told()
    with pytest.raises(WireError) as refused, conducting(couplings, told, threading.Event()):
        pass
    assert words.format(b=two.name) in str(refused.value)
    told.await_("the couplings ended: file")
