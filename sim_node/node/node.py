"""The lifecycle node: a plant, its clock and everything that ROS sees of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from lifecycle_msgs.srv import ChangeState
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

from sim_node.compiler.bundle import use
from sim_node.errors import SimNodeError, StabilityWarning
from sim_node.node.assembly import Assembly
from sim_node.node.clock import REMEDIES, timer
from sim_node.node.diagnostics import Diagnostics
from sim_node.node.faults import scheduled
from sim_node.node.inputs import Inputs
from sim_node.node.outputs import Outputs
from sim_node.node.parameters import PLANT, Parameters, of_plant
from sim_node.node.report import report
from sim_node.node.services import RefusedError, Services
from sim_node.node.settings import SETTINGS, Settings
from sim_node.node.simulated_time import SimulatedTime
from sim_node.node.standard.request import commanded, requested
from sim_node.node.stats import Statistics
from sim_node.node.topics import QUALITY, Topics
from sim_node.node.watchdog import Watchdog
from sim_node.plant import Plant, reference

# Looks a second at what the clock left: records to publish, a fault to report. Few enough to cost Python nothing, many
# enough that the native queue of records stays short.
LOOK_RATE = 20.0

SUCCESS, FAILURE, ERROR = (
    TransitionCallbackReturn.SUCCESS,
    TransitionCallbackReturn.FAILURE,
    TransitionCallbackReturn.ERROR,
)


class PlantNode(LifecycleNode):
    """A ROS 2 lifecycle node that runs a plant.

    A transition that fails on the way up (configure, activate) undoes what it did and leaves the node in the state it
    came from, to be tried again. One that fails on the way down releases everything and leaves it unconfigured.
    Attributes: ``fault``, what the last failed transition met.
    """

    def __init__(self, name: str = "plant", **options: Any) -> None:
        super().__init__(name, **options)
        self.fault: BaseException | None = None
        self._lost: BaseException | None = None
        self._assembly: Assembly | None = None
        self._topics: Topics | None = None
        self._configured, self._running = ExitStack(), ExitStack()
        self.parameters = Parameters(self, self._made)
        self.parameters.declare(SETTINGS)
        self._refuse_invalid_transitions()

    def on_configure(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Build the plant and everything that is allocated; nothing ticks yet."""
        return self._attempt("configure", self._configure, FAILURE)

    def on_activate(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Start the clock."""
        return self._attempt("activate", self._activate, FAILURE)

    def on_deactivate(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Stop the clock; the last records go out."""
        return self._attempt("deactivate", self._running.close, ERROR)

    def on_cleanup(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Release all that configure made."""
        return self._attempt("clean up", self._release, ERROR)

    def on_shutdown(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Stop and release from any state."""
        return self._attempt("shut down", self._release, ERROR)

    def on_error(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Release what a failed transition left."""
        return self._attempt("release", self._release, FAILURE)

    def make(self, transition: str) -> None:
        """Make a transition, such as configure, from the thread that runs the node. Raises what made it fail."""
        if getattr(self, f"trigger_{transition}")() is not SUCCESS:
            assert self.fault is not None
            raise self.fault

    @property
    def assembly(self) -> Assembly:
        """What configure built. Raises SimNodeError while the node is unconfigured."""
        if self._assembly is None:
            raise SimNodeError(f"node {self.get_fully_qualified_name()} is {self.state}: it has nothing built")
        return self._assembly

    @property
    def recorders(self) -> int:
        """How many recorders are listening; 0 while the node is unconfigured."""
        return self._topics.recorders if self._topics is not None else 0

    def finish(self) -> None:
        """Shut down from whatever state; no executor runs the node any more."""
        if self.state != "finalized":
            self.trigger_shutdown()

    @property
    def state(self) -> str:
        """The lifecycle's state: unconfigured, inactive, active or finalized."""
        return str(self._state_machine.current_state[1])

    def _attempt(
        self, what: str, act: Callable[[], None], otherwise: TransitionCallbackReturn
    ) -> TransitionCallbackReturn:
        """Run a transition; its exception is logged with its cause, which rclpy would swallow."""
        try:
            act()
        except Exception as fault:
            self.fault = fault
            self.get_logger().error(report(f"could not {what}", fault))
            return otherwise
        return SUCCESS

    def _refuse_invalid_transitions(self) -> None:
        """Answer a transition that the state does not allow; rclpy would raise, which ends an executor's spin."""
        service = self._service_change_state
        change_state = service.callback

        def answer(request: ChangeState.Request, response: ChangeState.Response) -> ChangeState.Response:
            wanted = request.transition
            allowed = {label: number for number, label, *_ in self._state_machine.available_transitions}
            if wanted.label not in allowed and (wanted.label or wanted.id not in allowed.values()):
                self.get_logger().warning(
                    f"transition {wanted.label or wanted.id} refused: the node is {self.state}; "
                    f"possible now: {', '.join(allowed)}"
                )
                response.success = False
                return response
            return change_state(request, response)

        service.callback = answer

    def _made(self) -> dict[str, str]:
        """The transitions that were made, and how each is undone, so that its parameters may change."""
        if self._assembly is None:
            return {}
        undo = {"configure": "deactivate and clean up"}
        return {**undo, "activate": "deactivate"} if self._assembly.running else undo

    def _built(self) -> tuple[Assembly, Topics]:
        assert self._assembly is not None
        assert self._topics is not None
        return self._assembly, self._topics

    def _configure(self) -> None:
        settings = Settings.of(self.parameters.read(SETTINGS))
        if settings.bundle:
            use(settings.bundle)
        plant = self._make_plant(reference(settings.plant))
        standard = requested(self.parameters, plant, QUALITY)
        joints = commanded(self.parameters, plant, [*QUALITY, *(output.name for output in standard)])
        faults = scheduled(self.parameters)
        for stranger in self.parameters.strangers():
            self.get_logger().warning(f"parameter {stranger} (given at start, and used by nothing)")
        with ExitStack() as making:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", StabilityWarning)  # the log has them
                assembly = making.enter_context(Assembly(self, plant, settings, faults))
            outputs = making.enter_context(Outputs(self, assembly, standard))
            time = making.enter_context(SimulatedTime(self, assembly))
            topics = making.enter_context(Topics(self, assembly, outputs, time))
            making.enter_context(Inputs(self, assembly, joints))
            making.enter_context(Services(self, assembly, self._reset))
            making.enter_context(Statistics(self, assembly))
            watchdog = making.enter_context(Watchdog(self, assembly))
            making.enter_context(Diagnostics(self, assembly, watchdog))
            self._assembly, self._topics = assembly, topics
            self._configured = making.pop_all()
        for warning in assembly.stepper.warnings:
            self.get_logger().warning(str(warning))
        if assembly.stepper.guarded:
            self.get_logger().warning(f"guards are on in {', '.join(assembly.stepper.guarded)}: they change results")
        ring = assembly.publisher
        self.get_logger().info(
            f"{type(plant).__name__} configured on {assembly.stepper.device}: {settings.rate:g} Hz by the "
            f"{settings.clock} clock, "
            f"ring '{ring.name}' ({ring.transport}, {settings.slots} slots of {ring.layout.size} bytes)"
        )

    def _make_plant(self, kind: type[Plant]) -> Plant:
        """Declare the plant's parameters, those of another plant no more, and make it with their values.

        They stay declared when configure fails and after cleanup, so that they can be mended and set.
        """
        declared = of_plant(kind)
        self.parameters.keep_only(PLANT, declared)
        self.parameters.declare(declared)
        values = self.parameters.read(declared)
        return kind(**{name.removeprefix(PLANT): value for name, value in values.items()})

    def _activate(self) -> None:
        assembly, topics = self._built()
        assembly.choose_clock(Settings.of(self.parameters.read(SETTINGS)))
        topics.time.require_alone()
        with ExitStack() as making:
            making.callback(topics.stop)
            topics.start()
            making.callback(assembly.stop)
            if assembly.settings.start_paused:
                assembly.clock.pause()
            else:
                assembly.clock.resume()
            assembly.start()
            if refused := assembly.clock.refused:
                told = "; ".join(f"{name} ({why}): {REMEDIES[name]}" for name, why in refused.items())
                self.get_logger().warning(f"the clock goes on without what the operating system refused: {told}")
            making.enter_context(timer(self, 1.0 / LOOK_RATE, self._look))
            self._running = making.pop_all()

    def _release(self) -> None:
        try:
            self._running.close()
        finally:
            self._assembly = self._topics = None
            self._configured.close()

    def _reset(self) -> None:
        """Begin anew at step 0; a failure leaves the node unconfigured, since nothing is left that could run."""
        assembly, topics = self._built()
        paused = assembly.clock.paused
        try:
            assembly.stop()
            topics.stop()
            assembly.rebuild()
            topics.announce()
            topics.start()
            if paused:
                assembly.clock.pause()
            assembly.start()
        except Exception as fault:
            self.get_logger().error(report("could not reset", fault))
            self.fault = self._lost = fault
            raise RefusedError(f"reset failed, the node becomes unconfigured: {fault}") from fault

    def _look(self) -> None:
        """Publish what waits; when the clock ended by itself, say why and become inactive."""
        assembly, topics = self._built()
        if self._lost is not None:  # not in the service's callback: its answer must go out first
            self._lost = None
            self.trigger_deactivate()
            self.trigger_cleanup()
            return
        topics.flush()
        fault = assembly.clock.fault
        if fault is not None:
            self.fault = fault
            self.get_logger().error(report(f"the clock stopped after step {assembly.stepper.step}", fault))
            self.trigger_deactivate()
