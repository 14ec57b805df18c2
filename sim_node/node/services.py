"""The services of a node: each answers when it is done, or says why it is refused."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from rclpy.lifecycle import LifecycleNode
from std_srvs.srv import Trigger

from sim_node.errors import SimNodeError
from sim_node.node.assembly import Assembly
from sim_node.srv import Fault, Step


class RefusedError(SimNodeError):
    """A service cannot do what it is asked for now."""


class Services:
    """The services, alive inside the block; ``reset`` is the node's, since more than the plant begins anew."""

    def __init__(self, node: LifecycleNode, assembly: Assembly, reset: Callable[[], None]) -> None:
        self._node, self._assembly, self._reset = node, assembly, reset
        self._made = ExitStack()

    def __enter__(self) -> Services:
        kinds = {
            "pause": (Trigger, self._pause),
            "resume": (Trigger, self._resume),
            "reset": (Trigger, self._start_over),
            "reset_statistics": (Trigger, self._forget),
            "step": (Step, self._step),
            "fault": (Fault, self._fault),
        }
        with ExitStack() as making:
            for name, (kind, act) in kinds.items():
                made = self._node.create_service(kind, f"~/{name}", self._answering(name, act))
                making.callback(self._node.destroy_service, made)
            self._made = making.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._made.close()

    def _answering(self, name: str, act: Callable[[Any, Any], str]) -> Callable[[Any, Any], Any]:
        """Answer a request with what was done, or why not; the node outlives both."""

        def answer(request: Any, response: Any) -> Any:
            try:
                if not self._assembly.running:
                    raise RefusedError(f"the node is not active: there is nothing to {name}; activate it first")
                response.message = act(request, response)
                response.success = True
            except SimNodeError as fault:
                response.success, response.message = False, str(fault)
                self._node.get_logger().warning(f"~/{name} refused: {fault}")
            return response

        return answer

    def _pause(self, _request: Any, _response: Any) -> str:
        self._assembly.clock.pause()
        return f"paused at step {self._assembly.stepper.step}"

    def _resume(self, _request: Any, _response: Any) -> str:
        self._assembly.clock.resume()
        return "running"

    def _start_over(self, _request: Any, _response: Any) -> str:
        self._reset()
        return f"at step 0 of generation {self._assembly.publisher.generation}"

    def _forget(self, _request: Any, _response: Any) -> str:
        self._assembly.stepper.reset_statistics()
        return f"~/stats counts from step {self._assembly.stepper.step}"

    def _step(self, request: Any, response: Any) -> str:
        clock, stepper = self._assembly.clock, self._assembly.stepper
        if not clock.paused:
            raise RefusedError("the plant is running: pause it first, then step")
        if request.ticks == 0:
            raise RefusedError("ticks is 0: ask for at least one")
        wanted = stepper.step + request.ticks
        clock.step(request.ticks)
        response.step = stepper.step
        if stepper.step < wanted:
            raise RefusedError(f"the plant failed after step {stepper.step}: the node's log says why")
        return f"at step {stepper.step}"

    def _fault(self, request: Any, response: Any) -> str:
        table, step = self._assembly.faults, self._assembly.stepper.step
        if request.kind:
            value = True if request.kind == "nan" else request.value
            asked = {"variable": request.variable, request.kind: value, "seed": request.seed}
            asked |= {word: each for word in ("after", "until") if (each := getattr(request, word))}
            asked |= {} if request.element < 0 else {"element": request.element}
            told = str(table.inject(asked, step))
            self._assembly.apply_faults()
        else:
            count = table.clear(request.variable)
            if count:
                self._assembly.apply_faults()
            told = f"{count} faults taken away"
        response.faults = [str(fault) for fault in table.faults]
        return told
