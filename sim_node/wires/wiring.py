"""What a YAML file says of a bus: which messages of its DBC files carry which elements of a plant."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cantools
from cantools.database.can.message import Message
from cantools.database.can.signal import Signal

from sim_node.errors import WireError
from sim_node.errors.suggestion import suggestion
from sim_node.section import Section
from sim_node.wires.coding import Checksum, Coding
from sim_node.wires.crc import CRCS
from sim_node.wires.e2e import Protection
from sim_node.wires.scaling import Scaling

_CODING = ("signals", "counter", "checksum", "e2e")
HOLD, ZERO = "hold", "zero"


@dataclass(frozen=True, slots=True)
class Wire:
    """One signal's other end: ``text`` names one number of an output or input.

    A value there times ``factor`` plus ``offset`` is the signal's physical value.
    """

    place: str
    signal: str
    text: str
    factor: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class Sent:
    """A message that the plant's side sends: each ``cycle_ns`` of simulated time, in each tick where that is 0.

    ``constants`` are raw values of signals that no wire carries.
    """

    name: str
    coding: Coding
    wires: tuple[Wire, ...]
    constants: Mapping[str, float]
    cycle_ns: int
    phase_ns: int


@dataclass(frozen=True, slots=True)
class Received:
    """A message that the plant's side takes: missing after ``timeout_ns`` of simulated time without it, never at 0.

    ``missing`` says what its inputs then do; ``flag`` names the number of an input that is 1 for as long, or ''.
    """

    name: str
    coding: Coding
    wires: tuple[Wire, ...]
    timeout_ns: int
    missing: str
    flag: str
    place: str


@dataclass(frozen=True, slots=True)
class Wiring:
    """A bus, by the arguments of ``can.Bus``, and the messages on it of the node ``plant``.

    ``off`` are spans of simulated time, ns, each from behind its first instant to its last, in which the node is off
    the bus: a fault that is asked for.
    """

    path: Path
    plant: str
    bus: Mapping[str, Any]
    sent: tuple[Sent, ...]
    received: tuple[Received, ...]
    off: tuple[tuple[float, float], ...] = ()

    @staticmethod
    def read(path: Path) -> Wiring:
        """Read a file. Raises WireError naming file and key of the first thing in it that is wrong."""
        top = Section.of_file(path, WireError, ("plant", "bus", "bus_off", "dbc", "send", "receive"))
        messages = _messages(top, path.parent)
        bus = top.section("bus")
        bus.text("interface")
        send = top.section("send").sections((*_CODING, "cycle_ms", "phase_ms"))
        receive = top.section("receive").sections((*_CODING, "timeout_ms", "missing", "flag"))
        wiring = Wiring(
            path,
            top.text("plant", "/plant"),
            bus.values,
            tuple(_sent(name, section, _found(section, name, messages)) for name, section in send),
            tuple(_received(name, section, _found(section, name, messages)) for name, section in receive),
            tuple(_span(section) for section in top.rows("bus_off", ("after", "until"))),
        )
        if not wiring.sent and not wiring.received:
            raise top.fault("no message is sent or received; name some below 'send' or 'receive'")
        return wiring


def _span(section: Section) -> tuple[float, float]:
    begin = section.number("after", 0.0, low=0.0)
    end = section.number("until", low=0.0) if "until" in section.values else math.inf
    if end <= begin:
        raise section.fault(f"it would end at {end:g} s, and begins at {begin:g} s")
    return begin * 1e9, end * 1e9


def _messages(top: Section, folder: Path) -> dict[str, Message]:
    given = top.values.get("dbc")
    files = given if isinstance(given, list) else [given]
    if not files or not all(isinstance(file, str) and file for file in files):
        raise top.fault(f"the path of a DBC file stands here, or a list of them, not {given!r}", "dbc")
    found: dict[str, Message] = {}
    for file in files:
        try:
            loaded = cantools.database.load_file(folder / str(file), strict=True)
        except (
            OSError,
            ValueError,
            cantools.database.Error,
            cantools.database.UnsupportedDatabaseFormatError,
        ) as fault:
            raise top.fault(f"{file} cannot be read: {' '.join(str(fault).split())}", "dbc") from fault
        for message in loaded.messages:
            if not isinstance(message, Message):
                raise top.fault(f"{file} is of another bus than CAN", "dbc")
            if message.name in found:
                raise top.fault(f"message {message.name} is in more than one file", "dbc")
            found[message.name] = message
    return found


def _found(section: Section, name: str, messages: Mapping[str, Message]) -> Message:
    if name not in messages:
        raise section.fault(f"the DBC has no message '{name}'{suggestion(name, messages)}")
    return messages[name]


def _sent(name: str, section: Section, message: Message) -> Sent:
    coding = _coding(section, message)
    wires: list[Wire] = []
    constants: dict[str, float] = {}
    signals = section.section("signals")
    for signal, value in signals.values.items():
        described = _signal(signals, signal, message, coding)
        if isinstance(value, str) and value in _choices(described):
            constants[signal] = _choices(described)[value]
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            scaling = coding.scalings[signal]
            constants[signal], saturated = scaling.raw(float(value))
            if saturated:
                raise signals.fault(
                    f"{value!r} is outside the signal's range {scaling.low:g} … {scaling.high:g}", signal
                )
        else:
            wires.append(_wire(signals, signal))
    if "cycle_ms" not in section.values and not message.cycle_time:
        raise section.fault(
            "the DBC has no cycle time of this message (GenMsgCycleTime): give 'cycle_ms'; 0: each tick"
        )
    cycle, phase = section.number("cycle_ms", message.cycle_time, low=0.0), section.number("phase_ms", 0.0, low=0.0)
    return Sent(name, coding, tuple(wires), constants, _ns(cycle), _ns(phase))


def _received(name: str, section: Section, message: Message) -> Received:
    coding = _coding(section, message)
    signals = section.section("signals")
    wires = []
    for signal in signals.values:
        _signal(signals, signal, message, coding)
        wires.append(_wire(signals, signal))
    if not wires:
        raise section.fault("no signal of it is taken; name some below 'signals'")
    timeout, missing = section.number("timeout_ms", 0.0, low=0.0), section.text("missing", HOLD, (HOLD, ZERO))
    flag = section.text("flag") if "flag" in section.values else ""
    if not timeout and (flag or "missing" in section.values):
        raise section.fault("'missing' and 'flag' are for a message with 'timeout_ms'")
    return Received(name, coding, tuple(wires), _ns(timeout), missing, flag, section.place)


def _wire(signals: Section, signal: str) -> Wire:
    value = signals.values[signal]
    place = f"{signals.place}.{signal}"
    if isinstance(value, str):
        return Wire(place, signal, value)
    if not isinstance(value, dict):
        raise signals.fault(
            f"one number of the plant stands here, as force[0] or {{part: force[0], factor: 3.6}}, not {value!r}",
            signal,
        )
    wire = signals.section(signal, ("part", "factor", "offset"))
    factor = wire.number("factor", 1.0)
    if factor == 0.0:
        raise wire.fault("a factor of 0 says nothing of the signal", "factor")
    return Wire(place, signal, wire.text("part"), factor, wire.number("offset", 0.0))


def _signal(section: Section, name: str, message: Message, coding: Coding) -> Signal:
    """Find a signal that a user may give a value: not one that the coding writes."""
    described = _known(section, name, name, message)
    checksum = coding.checksum.signal if coding.checksum else ""
    header = coding.protection.covered if coding.protection else set()
    if name in (coding.counter, checksum) or header & _bytes(described):
        raise section.fault("the message's counter, checksum or e2e writes this signal; leave it out", name)
    return described


def _known(section: Section, key: str, name: str, message: Message) -> Signal:
    known = {signal.name: signal for signal in message.signals}
    if name not in known:
        raise section.fault(f"message {message.name} has no signal '{name}'{suggestion(name, known)}", key)
    return known[name]


def _coding(section: Section, message: Message) -> Coding:
    scalings = {signal.name: Scaling(signal) for signal in message.signals}
    counter = section.text("counter") if "counter" in section.values else ""
    if counter and _known(section, "counter", counter, message).is_float:
        raise section.fault(f"signal {counter} is a floating-point number, and counts nothing", "counter")
    if counter and "e2e" in section.values:
        raise section.fault("an E2E profile has a counter of its own; leave 'counter' out", "counter")
    return Coding(message, scalings, counter, _checksum(section, message), _protection(section, message))


def _protection(section: Section, message: Message) -> Protection | None:
    if "e2e" not in section.values:
        return None
    given = section.section("e2e", ("profile", "data_id", "offset", "mode"))
    mode = given.text("mode") if "mode" in given.values else ""
    profile, data_id = given.values.get("profile"), given.values.get("data_id")
    try:
        return Protection(profile, message.length, data_id, given.values.get("offset", 0), mode)  # type: ignore[arg-type]
    except WireError as fault:
        raise section.fault(str(fault), "e2e") from None


def _checksum(section: Section, message: Message) -> Checksum | None:
    if "checksum" not in section.values:
        return None
    given = section.section("checksum", ("signal", "crc"))
    crc = CRCS[given.text("crc", choices=tuple(CRCS))]
    signal = _known(given, "signal", given.text("signal"), message)
    covered = sorted(_bytes(signal))
    if signal.length != crc.bits or len(covered) != crc.bits // 8:
        raise given.fault(f"signal {signal.name} is not {crc.bits // 8} whole bytes, as this checksum is", "signal")
    return Checksum(signal.name, crc, covered[0], signal.byte_order == "big_endian")


def _bytes(signal: Signal) -> set[int]:
    """Number the bytes of a message that a signal has bits in."""
    if signal.byte_order == "little_endian":
        first, last = signal.start, signal.start + signal.length - 1
    else:  # counted from the highest bit of a byte to the lowest, as DBC files do not
        first = 8 * (signal.start // 8) + 7 - signal.start % 8
        last = first + signal.length - 1
    return set(range(first // 8, last // 8 + 1))


def _choices(signal: Signal) -> dict[str, float]:
    return {str(name): raw for raw, name in (signal.choices or {}).items()}


def _ns(milliseconds: float) -> int:
    return round(milliseconds * 1e6)
