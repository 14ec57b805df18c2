"""What a rig is made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from sim_node.errors import PlantError
from sim_node.errors.suggestion import suggestion
from sim_node.plant import Plant, reference
from sim_node.plant.faultable import Allowed, faultable

if TYPE_CHECKING:
    from sim_node.testing.reading import Reading

# Told the plant after a tick; returns commands by name of the input, or nothing.
Function = Callable[["Reading"], "Mapping[str, Any] | None"]


@dataclass(frozen=True, kw_only=True)
class Options:
    """A plant, its clock and what controls it.

    ``plant`` is a class, a plant, or a reference (``module:Class``); ``parameters`` are those of a class or reference.
    ``rate`` is in ticks a second of ``substeps`` plan runs each. ``controller`` is a function, called after each tick
    and answering it, or the command line of a process, in which ``{ring}`` stands for the ring's name. Lockstep waits
    for that process's commands on the inputs ``answers`` (None: all), for ``limit`` seconds; then ``miss`` is 'stop',
    which fails the test, as the process's end does, 'hold' or 'zero'. ``realtime`` lets ticks come by the clock
    instead. ``ros`` runs the plant as a ROS 2 node, named ``name`` in a namespace of its own, with these parameters
    more; in the command line ``{node}`` stands for its full name and ``{namespace}`` for that. The bag has a keyframe
    each ``keyframe_every`` ticks (0: the first only), and topics under ``name``. ``faults`` names the inputs and the
    published fields that may have faults, each as ``NAME``, or ``NAME:TICKS`` with the longest delay.
    """

    plant: type[Plant] | Plant | str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    rate: float = 1000.0
    substeps: int = 1
    seed: int = 0
    device: str = "cpu"
    controller: Function | Sequence[str] | None = None
    answers: Sequence[str] | None = None
    limit: float = 10.0
    miss: str = "stop"
    realtime: bool = False
    ros: Mapping[str, Any] | None = None
    keyframe_every: int = 1000
    name: str = "plant"
    faults: Sequence[str] = ()

    @staticmethod
    def of(plant: object, given: Mapping[str, Any]) -> Options:
        """Check the names of options. Raises PlantError for one that there is not, or where there is no plant."""
        known = [each.name for each in fields(Options) if each.name != "plant"]
        for name in given:
            if name not in known:
                raise PlantError(f"a rig has no option '{name}'{suggestion(name, known)}")
        if not isinstance(plant, str | Plant) and not (isinstance(plant, type) and issubclass(plant, Plant)):
            raise PlantError(
                f"a rig is made from a plant, not {plant!r}: @pytest.mark.rig(MyPlant), or make_rig(MyPlant), "
                "with the class, or a reference as 'module:Class'"
            )
        return Options(plant=plant, **given)

    @property
    def dt_ns(self) -> int:
        """A tick in simulated nanoseconds."""
        if not 1e-3 <= self.rate <= 1e6:
            raise PlantError(f"a rig's rate is 0.001 to 1e6 ticks a second, not {self.rate!r}")
        return round(1e9 / self.rate)

    @property
    def function(self) -> Function | None:
        """The controller, where it is a function."""
        return self.controller if callable(self.controller) else None

    @property
    def command(self) -> Sequence[str] | None:
        """The controller, where it is a process."""
        if self.controller is None or callable(self.controller):
            return None
        if isinstance(self.controller, str) or not all(isinstance(part, str) for part in self.controller):
            raise PlantError(
                "a rig's controller is a function, or a process's command line as a list of words, "
                f"not {self.controller!r}"
            )
        return self.controller

    def make(self) -> Plant:
        """Make a new plant, as often as it is asked for.

        Raises PlantError where its class is inside a function: the bag names it, and must find it again.
        """
        if isinstance(self.plant, Plant):
            if self.parameters:
                raise PlantError("a rig's parameters are for a plant's class; this plant has its own already")
            kind, parameters = type(self.plant), self.plant.parameters
        else:
            kind = reference(self.plant) if isinstance(self.plant, str) else self.plant
            parameters = self.parameters
        if "<locals>" in kind.__qualname__:
            raise PlantError(
                f"the plant {kind.__qualname__} is a class inside a function, where no bag can name it: "
                "move it to the top of its module"
            )
        if self.faults:
            kind = faultable(kind, Allowed.parse(",".join(self.faults)))  # type: ignore[arg-type]  # as in reference
        return kind(**parameters)
