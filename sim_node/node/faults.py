"""The faults that a node's parameters schedule: under ``faults.``, by names of the user's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sim_node.errors.suggestion import suggestion
from sim_node.node.parameters import Declaration, ParameterError, Parameters
from sim_node.plant.fault import KINDS

PREFIX = "faults."
_KIND = "What happens to the variable; docs/faults.md says what each kind takes."
WORDS: Mapping[str, Declaration] = {
    each.name: each
    for each in (
        Declaration("variable", "", "The input or published field that has the fault."),
        *(Declaration(kind, False if kind == "nan" else 0.0, _KIND) for kind in KINDS),
        Declaration("element", -1, "The number that has it, counted in C order; -1: all of them.", low=-1),
        Declaration("after", 0.0, "When it begins, in simulated time.", "s", low=0.0),
        Declaration("until", 0.0, "When it ends, in simulated time.", "s", low=0.0),
        Declaration("first_tick", 1, "The first tick that has it.", low=0),
        Declaration("last_tick", 1, "The last tick that has it.", low=0),
        Declaration("seed", 0, "Seed of noise and drop.", low=0, high=2**32 - 1),
    )
}


def scheduled(parameters: Parameters) -> dict[str, dict[str, Any]]:
    """Declare what is given under ``faults.``, and read it: name → a fault as ``FaultTable.inject`` takes it.

    Raises ParameterError for a word that no fault has.
    """
    declared = dict(_declared(parameters))
    parameters.declare(declared.values())
    parameters.keep_only(PREFIX, list(declared.values()))
    found: dict[str, dict[str, Any]] = {}
    for (name, word), value in zip(declared, parameters.read(declared.values()).values(), strict=True):
        asked = found.setdefault(name, {})
        if (word, value) != ("element", -1):
            asked[word] = value
    return found


def _declared(parameters: Parameters) -> Iterator[tuple[tuple[str, str], Declaration]]:
    for given in sorted(parameters.given(PREFIX)):
        name, dot, word = given.removeprefix(PREFIX).rpartition(".")
        known = WORDS.get(word) if dot else None
        if known is None:
            raise ParameterError(
                f"parameter '{given}' is no part of a fault; write {PREFIX}NAME.WORD{suggestion(word, WORDS)}"
            )
        yield (name, word), Declaration(given, known.default, known.doc, known.unit, known.low, known.high)
