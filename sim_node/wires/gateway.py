"""Between the ring of a plant and a bus: ticks become messages, messages become commands."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from typing import Any

import can
import numpy as np

from sim_node._native import Tick
from sim_node.bridge.subscriber import Subscriber
from sim_node.errors import RingError, WireError
from sim_node.wires.incoming import Commands, Incoming
from sim_node.wires.outgoing import Outgoing
from sim_node.wires.wiring import Wiring

LOOK_S = 0.1  # how often those who wait look whether to end
WRITER = "can"


@contextmanager
def opened(wiring: Wiring) -> Iterator[can.BusABC]:
    """Open the bus that a wiring names. Raises WireError with what python-can says where it cannot."""
    try:
        bus = can.ThreadSafeBus(**wiring.bus)
    except (can.CanError, OSError, ValueError, TypeError, ImportError, NotImplementedError) as fault:
        raise WireError(f"{wiring.path}: bus: cannot be opened: {' '.join(str(fault).split())}") from fault
    try:
        yield bus
    finally:
        bus.shutdown()


class Gateway:
    """What a wiring describes, at work.

    A message goes out with the tick whose simulated time its cycle has come to, with that tick's values. What comes in
    is sent to the plant at once, as the answer to the newest tick. Time-outs count in simulated time: a plant that is
    paused misses nothing, and sends nothing. While the node is to be off the bus (``Wiring.off``) sending fails, as on
    a bus that takes nothing, and nothing is heard. ``tell`` gets a line when a message goes missing or comes back, and
    when the bus fails or recovers; ``log`` gets each message, of both directions.
    """

    def __init__(
        self,
        wiring: Wiring,
        bus: can.BusABC,
        tell: Callable[[str], None],
        log: Callable[[can.Message], None] | None = None,
    ) -> None:
        self._wiring, self._bus, self._tell, self._log = wiring, bus, tell, log or _nowhere
        self._outgoing = [Outgoing(sent) for sent in wiring.sent]
        self._incoming = {_identity(each.coding.message): Incoming(each) for each in wiring.received}
        self._lock = threading.Lock()  # over what both threads have: commands, their writer, and the log
        self._commands: Commands = {}
        self._now_ns, self._generation = 0, -1
        self._failing = False
        self._fault: BaseException | None = None

    @property
    def counts(self) -> dict[str, dict[str, dict[str, Any]]]:
        """What became of the messages: ``sent`` and ``received``, by their names."""
        return {
            "sent": {each.sent.name: asdict(each.counts) for each in self._outgoing},
            "received": {each.received.name: asdict(each.counts) for each in self._incoming.values()},
        }

    def run(self, stop: threading.Event) -> None:
        """Work until told to stop; waits for the plant, and follows it when it is started again.

        Raises WireError where a wire names nothing of the plant, RingError where its ring cannot be read or written.
        """
        if self._incoming:
            self._bus.set_filters([
                {"can_id": number, "can_mask": 0x1FFFFFFF if extended else 0x7FF, "extended": extended}
                for number, extended in self._incoming
            ])  # fmt: skip
        with ExitStack() as stack:
            ticks = stack.enter_context(self._found(stop))
            writer = stack.enter_context(self._found(stop))
            while self._bus.recv(timeout=0) is not None:  # what came before the plant was there
                pass
            self._adopt(ticks, writer)
            ear = threading.Thread(target=self._listen, args=(writer, stop), name="sim_node can")
            ear.start()
            try:
                while not stop.is_set():
                    self._step(ticks, writer)
            finally:
                stop.set()
                ear.join()
        if self._fault is not None:
            raise self._fault

    @contextmanager
    def _found(self, stop: threading.Event) -> Iterator[Subscriber]:
        """Wait for the plant's ring."""
        while True:
            try:
                subscriber = Subscriber(self._wiring.plant, timeout=LOOK_S, writer=WRITER)
                break
            except RingError as absent:
                if stop.is_set():
                    raise RingError(f"told to stop before the plant was there: {absent}") from absent
        with subscriber:
            yield subscriber

    def _adopt(self, ticks: Subscriber, writer: Subscriber) -> None:
        """Bind the wires to the plant as it is now, and have its inputs."""
        self._generation = ticks.generation
        for message in self._outgoing:
            message.bind(ticks.layout)
        with self._lock:
            self._newest(writer)
            self._commands = {f.name: np.zeros(f.numpy_shape, f.element.numpy) for f in ticks.inputs}
            for each in self._incoming.values():
                each.bind(ticks.inputs)
                for name in each.inputs:
                    writer.claim(name)

    def _step(self, ticks: Subscriber, writer: Subscriber) -> None:
        """Wait a while for a tick, and do what is due with it."""
        try:
            tick = ticks.next(timeout=LOOK_S)
        except RingError:  # paused, inactive, or being started again
            return
        with tick:
            if ticks.generation != self._generation:
                self._adopt(ticks, writer)
            self._now_ns = tick.stamp_ns
            self._send(tick)
        with self._lock:
            for each in self._incoming.values():
                if each.watch(self._now_ns, self._commands):
                    self._tell(f"{each.received.name} is missing since {self._now_ns / 1e9:.3f} s")
                    self._command(writer, each)

    def _send(self, tick: Tick) -> None:
        for each in self._outgoing:
            if not each.due(tick.stamp_ns):
                continue
            described = each.sent.coding.message
            message = can.Message(
                timestamp=time.time(), arbitration_id=described.frame_id, is_extended_id=described.is_extended_frame,
                is_fd=described.is_fd, bitrate_switch=described.is_fd, data=each.content(tick.__getitem__), is_rx=False,
            )  # fmt: skip
            try:
                if self._is_off:
                    raise can.CanOperationError("bus-off, as is asked for")
                self._bus.send(message)
            except (can.CanError, OSError) as fault:
                each.counts.failed += 1
                self._state(fault)
            else:
                each.counts.sent += 1
                self._state(None)
                with self._lock:
                    self._log(message)

    @property
    def _is_off(self) -> bool:
        """Whether the node is to be off the bus at the newest tick."""
        return any(begin < self._now_ns <= end for begin, end in self._wiring.off)

    def _state(self, fault: Exception | None) -> None:
        """Tell when sending begins to fail, and when it works again."""
        if self._failing != (fault is not None):
            self._failing = fault is not None
            self._tell(f"the bus takes no messages: {fault}" if fault else "the bus takes messages again")

    def _listen(self, writer: Subscriber, stop: threading.Event) -> None:
        """Take what comes, in a thread of its own: it waits for the bus, the other for the plant."""
        try:
            while not stop.is_set():
                try:
                    message = self._bus.recv(timeout=LOOK_S)
                except (can.CanError, OSError):  # bus-off; sending tells
                    stop.wait(LOOK_S)
                    continue
                if message is not None and not message.is_error_frame and not message.is_remote_frame:
                    with self._lock:
                        self._take(message, writer)
        except BaseException as fault:
            self._fault = fault
        finally:
            stop.set()

    def _take(self, message: can.Message, writer: Subscriber) -> None:
        each = self._incoming.get((message.arbitration_id, message.is_extended_id))
        if self._is_off:
            if each is not None:
                each.counts.unheard += 1
            return
        self._log(message)
        if each is None:
            return
        was_missing = each.missing
        if each.take(bytes(message.data), message.timestamp, self._now_ns, self._commands):
            if was_missing:
                self._tell(f"{each.received.name} is back at {self._now_ns / 1e9:.3f} s")
            self._command(writer, each)

    @staticmethod
    def _newest(writer: Subscriber) -> None:
        """Have what is sent next answer the newest tick, of the ring as it is now."""
        tick = writer.latest()
        if tick is not None:
            tick.release()

    def _command(self, writer: Subscriber, each: Incoming) -> None:
        """Send the inputs of a message, as the answer to the newest tick."""
        self._newest(writer)
        for name in each.inputs:
            writer.send(name, self._commands[name])


def _nowhere(message: can.Message) -> None:
    """Keep no log."""


def _identity(message: Any) -> tuple[int, bool]:
    """What tells messages on a bus apart."""
    return message.frame_id, message.is_extended_frame
