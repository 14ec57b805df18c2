"""What a YAML file says of several plants: the parameters of each, and which outputs are inputs of others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sim_node.bridge.name import ring_name
from sim_node.errors import RingError, WireError
from sim_node.errors.suggestion import suggestion
from sim_node.section import Section

# What makes couplings exact, unless a plant's own parameters say otherwise.
HELD = {"clock": "lockstep", "lockstep_limit_ms": 10_000.0, "lockstep_miss": "stop"}


@dataclass(frozen=True, slots=True)
class Coupling:
    """An output of one node's plant that is an input of another's; either may be a part of a field, as ``x[0]``.

    ``delay_ns`` is of simulated time. ``place`` is where it is written.
    """

    place: str
    source: str
    output: str
    target: str
    input: str
    delay_ns: int = 0


@dataclass(frozen=True, slots=True)
class Network:
    """Plants, as full name of the node → its parameters, and their couplings.

    Those that wait for nobody stand last: when they start, the others wait for them already.
    """

    path: Path
    plants: Mapping[str, Mapping[str, Any]]
    couplings: tuple[Coupling, ...]

    @staticmethod
    def read(path: Path) -> Network:
        """Read a file. Raises WireError with file and key where it makes no sense by itself."""
        file = Section.of_file(path, WireError, ("plants", "couplings"))
        given = {_node(section, name): section for name, section in file.section("plants").sections(())}
        couplings = tuple(_coupling(section, given) for section in file.rows("couplings", _KEYS))
        plants = {name: _parameters(section, name, couplings) for name, section in given.items()}
        last = sorted(plants.items(), key=lambda item: item[1].get("clock") != HELD["clock"])
        return Network(path, dict(last), couplings)


_KEYS = ("from", "to", "delay")


def _node(section: Section, name: str) -> str:
    try:
        return f"/{ring_name(name).replace('.', '/')}"
    except RingError as fault:
        raise section.fault(str(fault)) from None


def _coupling(section: Section, plants: Mapping[str, Section]) -> Coupling:
    ends = list[str]()
    for key in ("from", "to"):
        node, _, part = section.text(key).rpartition("/")
        if not node.strip("/") or not part:
            raise section.fault(f"'{section.text(key)}' is not the name of a node, '/', and a field of its plant", key)
        name = _node(section, node)
        if plants and name not in plants:
            raise section.fault(f"there is no plant '{name}' in this file{suggestion(name, plants)}", key)
        ends += [name, part]
    delay_s = section.number("delay", 0.0, low=0.0)
    return Coupling(section.place, ends[0], ends[1], ends[2], ends[3], round(delay_s * 1e9))


def _parameters(section: Section, name: str, couplings: tuple[Coupling, ...]) -> dict[str, Any]:
    """Give a node's parameters: those of the file, a plant's file beside it, and what makes its couplings exact."""
    own = dict(_flat(section.values))
    place, colon, rest = str(own.get("plant", "")).partition(":")
    if place.endswith(".py"):
        own["plant"] = f"{Path(section.place.partition(': ')[0]).parent / place}{colon}{rest}"
    held = sorted({each.input.partition("[")[0].strip() for each in couplings if each.target == name})
    return {**HELD, "lockstep_inputs": ",".join(held), **own} if held else own


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Name nested parameters with dots, as ROS does."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _flat({str(inner): each for inner, each in value.items()}, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
