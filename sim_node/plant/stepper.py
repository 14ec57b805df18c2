"""The stepper: a plant with its memory, ticked by one native function whatever the clock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from sim_node import _native
from sim_node.device import driver
from sim_node.device.cuda import Cuda
from sim_node.device.names import Device, get_device
from sim_node.device.scope import ScopedDevice
from sim_node.errors import KernelError, PlantError, SimNodeError, placed
from sim_node.errors.suggestion import suggestion
from sim_node.plant.account import Account
from sim_node.plant.commit import commit
from sim_node.plant.keyframe import Keyframe, taken, target_of
from sim_node.plant.memory import require, ring_of
from sim_node.plant.pace import ENDINGS, Pace, select
from sim_node.plant.places import Places, Slots
from sim_node.plant.plant import Plant, expect
from sim_node.plant.recording import Recording
from sim_node.plant.records import Records
from sim_node.plant.replayed import Replayed
from sim_node.plant.statistics import Distribution
from sim_node.plant.trace_file import trace_file
from sim_node.plant.value import array_of, pack, rows_of, unpack
from sim_node.runtime.trace import Trace

PHASES = ("idle", "running", "parked")

# Records that wait: seconds of a fast plant, in bounded memory, and enough for a batch of any.
RECORDS, RECORD_BYTES, LEAST_RECORDS = 8192, 64 << 20, 512

_Read = TypeVar("_Read", bytes, None)
_UNWRITTEN, _CARRIED, _OVERWRITTEN = 1, 2, 4  # sn_fault


class Stepper:
    """A plant's state and its ticks.

    ``dt_ns`` is a tick in simulated nanoseconds, of ``substeps`` plan runs; ``ring`` is where published fields go, by
    default one that only this process sees. Each ``keyframe_every`` ticks a keyframe waits to be taken (0: none).
    ``record_capacity`` bounds the records that wait. Kernels run on ``device``;
    ``slots`` are that GPU's, for fields whose readers are there. The state at reset is published.
    Ticks leave spans in ``trace``, by default in the file that SIM_NODE_TRACE names, on a track of that ``name``.

    Attributes: ``plant``, ``dt_ns``, ``substeps``, ``seed``, ``ring``, ``layout`` (of the ring), ``state_layout``,
    ``input_layout``, ``plan_digest``, ``warnings`` (of the stability pass, which Python was warned of),
    ``guarded`` (names of the kernels with guards), ``device``.
    Raises PlantError when the plant is built wrongly, LaunchError and BuildError for its kernels.
    """

    def __init__(
        self,
        plant: Plant,
        *,
        dt_ns: int,
        substeps: int = 1,
        seed: int = 0,
        ring: _native.Ring | None = None,
        keyframe_every: int = 0,
        record_capacity: int | None = None,
        device: str | Device | None = None,
        slots: Slots | None = None,
        trace: Trace | None = None,
        name: str = "",
    ) -> None:
        expect(plant)
        self._name = type(plant).__name__
        for what, value, low, bits in (
            ("dt_ns", dt_ns, 1, 63),
            ("substeps", substeps, 1, 32),
            ("seed", seed, 0, 64),
            ("keyframe_every", keyframe_every, 0, 64),
            ("record_capacity", record_capacity or 0, 0, 32),
        ):
            if not isinstance(value, int) or not low <= value < 1 << bits:
                raise PlantError(f"{self._name}: {what} is an int of at least {low} below 2^{bits}, not {value!r}")
        self.plant, self.dt_ns, self.substeps, self.seed = plant, dt_ns, substeps, seed
        self.device = where = get_device(device)
        places = Places(plant, where, ring, slots)
        self.layout, self.state_layout, self.input_layout = places.published, plant.state_layout, plant.input_layout
        _native.nvtx_open()
        require(self._name, self.layout, self.state_layout, places.private)
        self._initial = self._initial_state(), self._initial_inputs()
        file = trace_file() if trace is None else None
        trace = Trace() if file is not None else trace
        bindings, outputs = tuple(plant._bindings.values()), tuple(plant.declarations.outputs)
        self._plan = Recording(self._name, bindings, outputs, where, trace, substeps)
        with self._authored("build"), ScopedDevice(self._plan.device):
            plant.build(self._plan, dt_ns * 1e-9 / substeps)
        self._plan.finish(self.input_layout.size, places.written())
        self.plan_digest, self.warnings = self._plan.digest, tuple(self._plan.warnings)
        self.guarded = self._plan.guarded
        self.ring = ring if ring is not None else ring_of(self.layout, self.input_layout)
        if record_capacity is None:
            row = 8 * len(self.state_layout.fields) + self.input_layout.size + 16
            record_capacity = min(max(RECORD_BYTES // row, LEAST_RECORDS), RECORDS)
        rounds, away = self._plan.rounds, {}
        if isinstance(where, Cuda) and rounds is not None:
            # a GPU's kernels reach the ring by the addresses that it has here, and have the rest in memory of their own
            self._shared = where.share(self.ring)
            size = self.layout.size + places.device.size + 3 * places.private.size
            self._buffers = where.allocate(size, label=f"state of {self._name}")
            self._commit = commit(where, len(self.state_layout.fields))
            away = {"buffers": self._buffers.address, "held": rounds.held, "seen": rounds.seen, "sums": rounds.sums}
            away |= {"summed": rounds.summed, "commit": self._commit.function, "commit_block": self._commit.block}
            if slots is not None:
                self._slots = slots
                away |= {"slots": slots.address, "stride": slots.stride, "device_size": slots.layout.size}
                away |= {"events": slots.events}
        self._native = _native.Stepper(
            self._plan, self.ring, PlantError, places.fields(self._plan), places.inputs(self._plan), self.layout.size,
            places.private.size, self.state_layout.size, self.input_layout.size, dt_ns, keyframe_every, record_capacity,
            **away,
        )  # fmt: skip
        self._account = Account(self._native, len(self.input_layout.fields))
        self.reset()
        self._probe()
        if trace is not None:
            trace.take()  # what the probe left
        kernels = [launch.kernel.name for launch in self._plan.launches]
        self._ticks = None
        if file is not None and trace is not None:
            self._ticks = file.ticks(self, trace, name, self._name, kernels, substeps, where.is_cuda)

    # ---- ticks ----

    @property
    def step(self) -> int:
        """The number of the last tick; 0 at reset."""
        return self._native.step

    def tick(self, count: int = 1, due_ns: int = 0) -> None:
        """Do ticks, as fast as possible.

        ``due_ns`` (CLOCK_MONOTONIC) is when the first of them was due, where a clock waited for that: then lateness and
        misses are accounted. Raises KernelError naming the tick; state and step are those before it.
        """
        for part in (count,) if self._ticks is None else self._ticks.parts(count):
            failure = self._native.tick(part, due_ns)
            if failure is not None:
                raise self._fault(failure)
            due_ns = 0

    def replay(self, inputs: np.ndarray[Any, Any], names: Sequence[str] = ()) -> Replayed:
        """Tick once for each row of ``inputs``, u8[n, bytes as the inputs' layout says], leaving no record of it.

        Collects the states, outputs and inputs of those names after each tick. Raises PlantError for an unknown name.
        """
        states = [field.name for field in self.state_layout]
        unknown = [name for name in names if name not in (*states, *(field.name for field in self.input_layout))]
        if unknown:
            self.get(unknown[0])
        numbers = tuple(states.index(name) for name in names if name in states)
        rows = np.ascontiguousarray(inputs, np.uint8)
        done, hashes, collected, failure = self._native.replay(len(rows), rows.data, numbers)
        values = {states[number]: raw for number, raw in zip(numbers, collected)}
        for field in self.input_layout:
            values[field.name] = rows[:, field.offset : field.offset + field.nbytes].tobytes()
        fields = {name: self.state_layout[name] if name in states else self.input_layout[name] for name in names}
        return Replayed(
            np.frombuffer(hashes, np.uint64).reshape(len(rows), len(states))[:done],
            {name: rows_of(field, values[name], len(rows))[:done] for name, field in fields.items()},
            None if failure is None else self._fault(failure),
        )

    def run(self, period_ns: int, **pace: Any) -> str:
        """Tick at a pace (``Pace``'s other fields) in the calling thread, which holds no GIL meanwhile, until stopped.

        ``grants`` tells how the operating system answered what was asked of it. Returns 'done' or 'stopped'. Raises
        KernelError as ``tick``, PlantError for a pace that is not possible, or that stops: no answer, or a late tick.
        """
        chosen = Pace(period_ns, **pace)
        inputs = [field.name for field in self.input_layout]
        ending, failure, unanswered = self._native.run(**chosen.native(self._name, inputs, self.commanded))
        if failure is not None:
            raise self._fault(failure)
        return chosen.ended(self._name, ENDINGS[ending], self.step, select(inputs, unanswered))

    def stop(self) -> None:
        """End the loop, from any thread; with none running, the next one ends at once."""
        self._native.stop()

    def pause(self) -> None:
        """Let the loop do no tick from here on until ``resume``; it sleeps, and others may look inside meanwhile."""
        self._native.pause()

    def resume(self) -> None:
        """Let a paused loop go on."""
        self._native.resume()

    def request(self, count: int) -> None:
        """Have a paused loop do ticks; returns when they are done. Raises PlantError when none is paused."""
        self._native.request(count)

    @property
    def phase(self) -> str:
        """What the loop does: 'idle' (there is none), 'running' or 'parked'."""
        return PHASES[self._native.phase]

    @property
    def grants(self) -> Mapping[str, str]:
        """What the operating system said to priority, affinity, lock_memory: 'granted', 'not asked' or its refusal."""
        return self._account.grants()

    # ---- state ----

    @property
    def commanded(self) -> list[str]:
        """Names of the inputs that controllers command."""
        return [name for name, each in self.plant.declarations.inputs.items() if not each.hidden]

    def reset(self) -> None:
        """Begin anew at step 0, as a new stepper would: nothing of the run before is left, sent commands included."""
        self._plan.reset()
        self._load(0, *self._initial)

    def set(self, name: str, value: Any) -> None:
        """Give an input a value from the next tick on; a command through the mailbox wins over it.

        Raises PlantError for an unknown input, or a value that does not fit.
        """
        names = [field.name for field in self.input_layout]
        if name not in names:
            raise PlantError(f"{self._name} has no input '{name}'{suggestion(name, names)}")
        self._native.command(names.index(name), array_of(self.input_layout[name], value).tobytes())

    def get(self, name: str) -> np.ndarray[Any, Any]:
        """Copy a state, output or input as it is after the last tick.

        Raises PlantError for an unknown name, and while the loop runs.
        """
        names = [field.name for field in self.state_layout]
        if name in names:
            return unpack(self.state_layout[name], self._told(self._native.field(names.index(name))))
        known = [*names, *(field.name for field in self.input_layout)]
        if name not in known:
            raise PlantError(f"{self._name} has no state, output or input '{name}'{suggestion(name, known)}")
        return unpack(self.input_layout[name], self._native.inputs(), self.input_layout[name].offset)

    def hashes(self) -> np.ndarray[Any, Any]:
        """The hash of each field of the state, u64, in the order of ``state_layout``; their sum is the state's."""
        return np.frombuffer(self._native.hashes(), np.uint64)

    def keyframe(self) -> Keyframe:
        """Copy the whole state. Raises PlantError while the loop runs."""
        return self._keyframe(self.step, self._told(self._native.state()), self._native.inputs())

    def take_keyframe(self) -> Keyframe | None:
        """Take the keyframe that waits, if one does; also while the loop runs."""
        taken = self._native.take_keyframe()
        return None if taken is None else self._keyframe(*taken)

    def restore(self, keyframe: Keyframe) -> None:
        """Continue from a keyframe as the run did that it was taken of.

        Raises PlantError when its layouts are not this plant's, or it holds no state and is not the first.
        """
        for what, ours, theirs in (
            ("state", self.state_layout, keyframe.layout),
            ("inputs", self.input_layout, keyframe.input_layout),
        ):
            if ours.digest != theirs.digest:
                raise PlantError(f"{self._name}: the layout of the {what} differs from the keyframe's")
        if not keyframe.state and keyframe.step and self.state_layout.size:
            raise PlantError(f"{self._name}: the keyframe of step {keyframe.step} holds no state")
        self._plan.reset()
        self._load(keyframe.step, keyframe.state or self._initial[0], keyframe.inputs)

    def drain(self) -> Records:
        """Take the oldest records that follow one another without a gap; also while the loop runs, by one thread."""
        first, count, hashes, inputs, unanswered, lost = self._native.drain()
        fields, width = len(self.state_layout.fields), self.input_layout.size
        rows = np.frombuffer(hashes, np.uint64).reshape(count, fields)
        applied = np.frombuffer(inputs, np.uint8).reshape(count, width)
        return Records(first, count, rows, applied, np.frombuffer(unanswered, np.uint64), lost)

    # ---- account ----

    def statistics(self, since: str = "start") -> dict[str, Distribution]:
        """Describe the quantities of the ticks (ns), command_age (ns) and delay_ticks since 'start' or 'reset'.

        Those are lateness, step_time, wake_to_commit and answer_time. The last two are of all commands. delay_ticks
        counts from the tick that a command answers to the tick that applies it: 1 is the next one.
        """
        return self._account.distributions(since)

    def command_statistics(self, since: str = "start") -> dict[str, dict[str, Distribution]]:
        """Describe command_age (ns) and delay_ticks of each input since 'start' or 'reset'."""
        return {field.name: self._account.commands(number, since) for number, field in enumerate(self.input_layout)}

    def answers(self) -> dict[str, dict[str, int]]:
        """Count, for each input, what lockstep found since the start.

        ``unanswered`` ticks had no answer in time, ``unanswered_step`` is the last of them (0: none), and ``late``
        commands were dropped since they came after their tick.
        """
        return {field.name: self._account.answers(number) for number, field in enumerate(self.input_layout)}

    def counters(self, since: str = "start") -> dict[str, int]:
        """Count what ``COUNTERS`` of plant/statistics.py names, since 'start' or 'reset'."""
        return self._account.counters(since)

    def observe(self) -> Account:
        """Begin an account of its own, told since 'start' or since its own 'reset', as of now."""
        return Account(self._native, len(self.input_layout.fields))

    def in_flight(self) -> tuple[int, str] | None:
        """Tell when the tick under way began (CLOCK_MONOTONIC, ns), and its kernel now; of a GPU all it has."""
        if (flight := self._native.in_flight) is None:
            return None
        names = [launch.kernel.name for launch in self._plan.launches]
        return flight[0], ", ".join(dict.fromkeys(names)) if self.device.is_cuda else names[flight[1]]

    def reset_statistics(self) -> None:
        """Let what is told since 'reset' begin here."""
        self._account.reset()

    @property
    def copies_per_tick(self) -> float:
        """Published fields that had to be copied into their slot, a tick; counted: 0 as long as kernels write there."""
        counters = self.counters()
        return counters["copies"] / max(counters["ticks"], 1)

    # ---- construction ----

    def _load(self, step: int, state: bytes, inputs: bytes) -> None:
        self._told(self._native.load(step, state, inputs))

    def _told(self, read: _Read | int) -> _Read:
        """What was read of a GPU; raises DriverError for what its driver answered instead."""
        if isinstance(read, int):
            raise driver.lost(f"the state of {self._name}", read)
        return read

    def _initial_state(self) -> bytes:
        declared = self.plant.declarations
        with self._authored("initial"):
            chosen = dict(self.plant.initial(self.seed))
        for name in chosen:
            if name not in declared.states:
                raise PlantError(f"{self._name}.initial: no state '{name}'{suggestion(name, declared.states)}")
        values = {name: each.initial for name, each in {**declared.states, **declared.outputs}.items()}
        return pack(self.state_layout, {**values, **chosen})

    def _initial_inputs(self) -> bytes:
        inputs = self.plant.declarations.inputs
        return pack(self.input_layout, {name: each.initial for name, each in inputs.items()})

    @contextmanager
    def _authored(self, method: str) -> Iterator[None]:
        """Name the method and the line where the author's own code raises."""
        try:
            yield
        except SimNodeError:
            raise
        except Exception as fault:
            raise PlantError(f"{self._name}.{method} failed: {placed(fault)}") from fault

    def _probe(self) -> None:
        """Run the plan into buffers of different contents, which finds what it leaves out or must not touch."""
        faults = self._native.probe()
        self._plan.reset()
        if isinstance(faults, tuple):
            return  # a kernel stopped itself, which the first tick will tell
        names = [field.name for field in (*self.state_layout, *self.input_layout)]
        outputs = self.plant.declarations.outputs
        for flag, what in (
            (_OVERWRITTEN, "a kernel writes '{name}' itself; it may write {target} only"),
            (_CARRIED, "'{name}' depends on what a run left in an array of the plan's own; make that array a state"),
            (_UNWRITTEN, "not every element of {target} is written in each substep; write them all"),
        ):
            for name, fault in zip(names, faults):
                if fault & flag:
                    target = f"'{name}'" if name in outputs else f"the next of '{name}'"
                    raise PlantError(f"plant {self._name}: {what.format(name=name, target=target)}")

    def _keyframe(self, step: int, state: bytes, inputs: bytes) -> Keyframe:
        return taken(self, target_of(self._plan.device), step, state, inputs)

    def _fault(self, failure: tuple[int, int, int, int, int]) -> KernelError:
        try:
            self._plan.fail(*failure)
        except KernelError as fault:
            what = f"tick {self.step + 1} of {self._name}: {fault.what}"
            return KernelError(what, fault.location, fault.kernel, fault.thread, fault.launch)
        raise AssertionError("Plan.fail returns never")
