"""What the node itself is told, each setting once: its name, default, range and meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, cast

from sim_node.bridge.transports import posix_shm, shared
from sim_node.device.sharing import AUTO, TRANSPORTS
from sim_node.node.parameters import Declaration, ParameterError, Value
from sim_node.plant.pace import MISSES, OVERRUNS

NS = 1_000_000_000


def _setting(default: Any, doc: str, **rest: Any) -> Any:
    return field(default=default, metadata={"doc": doc, **rest})


def _of_clock(default: Any, doc: str, **rest: Any) -> Any:
    return _setting(default, doc, read_by="activate", **rest)


def _limit(what: str, level: str) -> Any:
    return _setting(0.0, f"{what} from which it is {level} on /diagnostics; 0: never.", unit="us", low=0.0, high=1e12)


@dataclass(frozen=True, slots=True)
class Settings:
    """The node's own parameters, as configure reads them, and activate those of the clock."""

    plant: str = _setting("", "The plant to run, as module:Class.")
    rate: float = _setting(1000.0, "Ticks in a second of real time.", unit="Hz", low=1e-3, high=1e6)
    dt: float = _setting(0.0, "Simulated time of a tick; 0 means 1/rate.", unit="s", low=0.0, high=1e6)
    substeps: int = _setting(1, "Runs of the plan in a tick, each of dt/substeps.", low=1, high=1_000_000)
    seed: int = _setting(0, "Seed of the initial state and of random numbers.", low=0)
    clock: str = _of_clock(
        "native",
        "What fires ticks: the native loop, a ROS timer, commands that answer the last tick (lockstep), or nothing "
        "(free: as fast as possible).",
        choices=("native", "timer", "lockstep", "free"),
    )
    device: str = _setting("cpu", "Where kernels run: cpu, cuda:0, a GPU's uuid or words of its name, or python.")
    device_transport: str = _setting(
        AUTO,
        "How other processes get the fields that a GPU keeps: by CUDA's IPC, by file descriptors (vmm), or by the "
        "first of these that the GPU has (auto).",
        choices=TRANSPORTS,
    )
    spin_us: float = _of_clock(
        0.0,
        "How long before a tick the native clock stops sleeping and spins; how long lockstep spins before it sleeps.",
        unit="us",
        low=0.0,
        high=1e6,
    )
    overrun: str = _of_clock(
        "skip",
        "What the native clock does about instants that have passed by whole periods: leave them out (skip), do their "
        "ticks at once (catch_up), move all that follow by the delay (hold), or stop.",
        choices=OVERRUNS,
    )
    catch_up: int = _of_clock(
        100, "Ticks in a row that overrun catch_up does at once, at most; then it leaves out the rest.", low=1
    )
    lockstep_inputs: str = _of_clock(
        "", "Inputs that the lockstep clock waits for, with commas between their names; empty: all."
    )
    lockstep_limit_ms: float = _of_clock(
        100.0, "How long the lockstep clock waits for their commands.", unit="ms", low=1e-3, high=3.6e6
    )
    lockstep_miss: str = _of_clock(
        "hold",
        "What the lockstep clock does about an input whose command did not come in time: keep its value (hold), make "
        "it zero, or stop.",
        choices=MISSES,
    )
    priority: int = _of_clock(
        0, "SCHED_FIFO priority of the native clock's thread; 0 leaves the ordinary scheduler.", low=0, high=99
    )
    affinity: int = _of_clock(-1, "Processor that the native clock's thread is bound to; -1: any.", low=-1, high=1023)
    lock_memory: bool = _of_clock(False, "Keep the process's memory from being paged out.")
    start_paused: bool = _of_clock(False, "Activate with the clock paused: ticks come by ~/step, or after ~/resume.")
    slots: int = _setting(8, "Slots of the ring: ticks that readers can hold at one time.", low=3, high=255)
    exclusive_inputs: str = _setting(
        "", "Inputs that one writer at a time may send to, with commas between their names; a second one is refused."
    )
    input_silence: int = _setting(
        100, "Ticks after which a writer of an input that sent nothing is no longer in charge.", low=1, high=2**32 - 1
    )
    topic_priority: int = _setting(
        -1,
        "Priority of commands by topic (~/input/NAME) among an input's writers: the highest is in charge; "
        "others have 0 unless they say so.",
        low=-(2**31),
        high=2**31 - 1,
    )
    transport: str = _setting(
        posix_shm.TRANSPORT,
        "How processes of this machine share the ring: a file in /dev/shm (posix_shm), or memory without a file that "
        "is sealed to its size and goes with its last process (memfd).",
        choices=tuple(shared.SHARED),
    )
    group: str = _setting("", "Group whose members may read the ring and send commands; empty: the node's user alone.")
    lease_limit_ms: float = _setting(
        0.0,
        "How long a reader may hold a slot that the plant wants; then it loses it, and is told. 0: no limit.",
        unit="ms",
        low=0.0,
        high=1e9,
    )
    huge_pages: bool = _setting(
        False, "Have the ring in huge pages, where the machine makes them; a warning says why it does not."
    )
    record: bool = _setting(True, "Publish ~/record and ~/keyframe, from which a bag verifies.")
    keyframe_every: int = _setting(1000, "Ticks between keyframes; 0: one at the start only.", low=0)
    tick_topic_rate: float = _setting(100.0, "Rate of ~/tick; 0 turns it off.", unit="Hz", low=0.0, high=1000.0)
    clock_topic_rate: float = _setting(
        0.0,
        "Rate of /clock, for nodes with use_sim_time; 0: another simulator has it, or nobody.",
        unit="Hz",
        low=0.0,
        high=200.0,
    )
    bundle: str = _setting("", "Folder that 'sim-node build --out' wrote, to take kernels from; empty: none.")
    watchdog_ms: float = _setting(
        1000.0,
        "How long a tick may take before the watchdog says that it hangs; 0: never.",
        unit="ms",
        low=0.0,
        high=3.6e6,
    )
    watchdog: str = _setting(
        "stay", "What follows when a tick hangs: the process ends, or the node stays as it is.", choices=("stay", "end")
    )
    lateness_warn_us: float = _limit("Greatest lateness of a tick in a period", "a warning")
    lateness_error_us: float = _limit("Greatest lateness of a tick in a period", "an error")
    step_time_warn_us: float = _limit("Greatest time of a tick in a period", "a warning")
    step_time_error_us: float = _limit("Greatest time of a tick in a period", "an error")
    command_age_warn_us: float = _limit("Greatest age of an applied command in a period", "a warning")
    command_age_error_us: float = _limit("Greatest age of an applied command in a period", "an error")
    misses_warn: int = _setting(
        1, "Missed deadlines in a period that are a warning on /diagnostics; 0: none are.", low=0
    )
    misses_error: int = _setting(
        0, "Missed deadlines in a period that are an error on /diagnostics; 0: none are.", low=0
    )
    real_time_factor_warn: float = _setting(
        0.0, "Real-time factor of a period below which it is a warning on /diagnostics; 0: never.", low=0.0, high=1e6
    )
    real_time_factor_error: float = _setting(
        0.0, "Real-time factor of a period below which it is an error on /diagnostics; 0: never.", low=0.0, high=1e6
    )
    log_period: float = _setting(
        10.0, "Least time between two lines of the log about ticks that were late or lost.", unit="s", low=0.1, high=1e6
    )
    diagnostics_period: float = _setting(
        1.0, "Time between messages on /diagnostics and ~/stats.", unit="s", low=0.1, high=3600.0
    )

    @staticmethod
    def of(values: Mapping[str, Value]) -> Settings:
        """Build the settings from declared values.

        Raises ParameterError where values that are good alone do not fit together.
        """
        settings = Settings(**values)  # type: ignore[arg-type]
        if not settings.plant:
            raise ParameterError("parameter 'plant' is empty; give the plant to run as module:Class")
        if settings.dt_ns < 1:
            raise ParameterError(f"parameter 'dt' = {settings.dt!r} is less than a nanosecond")
        return settings

    @property
    def exclusive(self) -> tuple[str, ...]:
        """Names of the exclusive inputs."""
        return _names(self.exclusive_inputs)

    @property
    def pace(self) -> dict[str, Any]:
        """What ``Stepper.run`` is told."""
        return {
            "period_ns": self.period_ns,
            "clock": self.clock,
            "spin_ns": round(self.spin_us * 1000),
            "overrun": self.overrun,
            "catch_up": self.catch_up,
            "priority": self.priority,
            "affinity": self.affinity,
            "lock_memory": self.lock_memory,
            "inputs": _names(self.lockstep_inputs) or None,
            "limit_ns": max(round(self.lockstep_limit_ms * 1e6), 1),
            "miss": self.lockstep_miss,
        }

    @property
    def period_ns(self) -> int:
        """Real nanoseconds between ticks."""
        return round(NS / self.rate)

    @property
    def dt_ns(self) -> int:
        """Simulated nanoseconds a tick."""
        return round(NS * self.dt) if self.dt else round(NS / self.rate)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


SETTINGS: tuple[Declaration, ...] = tuple(
    Declaration(setting.name, cast(Value, setting.default), **setting.metadata) for setting in fields(Settings)
)
