"""The physics stability pass over a plan: what its launches make of memory, judged with the arguments they have."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from sim_node.compiler.analysis.stability import findings
from sim_node.compiler.analysis.trace import Known, Memory, trace
from sim_node.compiler.backend.abi import words
from sim_node.compiler.build import Program
from sim_node.compiler.frontend import lower
from sim_node.compiler.ir.function import Function
from sim_node.compiler.passes.pipeline import optimise
from sim_node.dtypes import ArrayType, Type, pointer
from sim_node.errors import BuildError, StabilityWarning, mistakes
from sim_node.lang.kernel import Kernel

if TYPE_CHECKING:
    from sim_node.runtime.plan import Recorded

_functions: WeakKeyDictionary[Kernel, dict[tuple[str, ...], Function | None]] = WeakKeyDictionary()
_said: dict[Any, Any] = {}  # what Python keeps, so that a warning is shown once a place


def judge(
    launches: Sequence[Recorded], images: Sequence[bytes], following: Mapping[int, int]
) -> list[StabilityWarning]:
    """Judge a plan by its launches and the images of their argument blocks.

    ``following`` gives for the identity of a cell that is a state's next that of its value. Where it is empty, all
    arrays are states, changed in place.
    """
    memory = Memory()
    for launch, image in zip(launches, images):
        program = launch.program
        function, known = _function(launch.kernel, program.params), _known(program.params, image)
        if function is None or not trace(function, known, memory):
            memory.lose(_written(program, known))
    changed = following or {spot.array: spot.array for spot in memory.stored}
    return [mistakes.UNSTABLE(each.what, each.location, each.remedy) for each in findings(memory, changed)]


def warn(found: Sequence[StabilityWarning]) -> None:
    """Let Python warn, at the places in the kernels."""
    for each in found:
        place = each.location
        warnings.warn_explicit(each, None, place.file if place else "plan", place.line if place else 1, registry=_said)


def _function(kernel: Kernel, params: Sequence[tuple[str, Type]]) -> Function | None:
    """The optimised function; none where the kernel runs but its source cannot be read here."""
    layouts = {name: type_.layout for name, type_ in params if isinstance(type_, ArrayType)}
    made = _functions.setdefault(kernel, {})
    key = tuple(layouts.values())
    if key not in made:
        try:
            made[key] = optimise(lower(kernel, layouts)).entry
        except BuildError:
            made[key] = None
    return made[key]


def _written(program: Program, known: Known) -> set[int]:
    """The arrays that a program may write."""
    params = enumerate(program.params)
    places = ((number, leaf) for number, (name, type_) in params if name in program.written
              for leaf, each in enumerate(type_.leaves) if each.scalar is pointer)  # fmt: skip
    return {identity for place in places if isinstance(identity := known[place], int)}


def _known(params: Sequence[tuple[str, Type]], image: bytes) -> Known:
    """The leaves of all arguments."""
    places = [(number, leaf) for number, (_, type_) in enumerate(params) for leaf in range(len(type_.leaves))]
    laid = words([type_ for _, type_ in params])
    return {
        place: np.frombuffer(image, word.scalar.numpy, 1, word.offset)[0].item()
        for place, word in zip(places, laid, strict=True)
    }
