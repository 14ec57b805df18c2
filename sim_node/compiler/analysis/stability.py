"""Whether the integrator of a plan can follow the springs and dampers in it, with the values that they have.

A substep maps position x and velocity v of a degree of freedom to a x + b v and c x + d v, apart from what does not
depend on them. That map lets no error grow where both roots of its characteristic polynomial lie in the unit circle:
Jury's criterion, det ≤ 1 and \\|trace\\| ≤ 1 + det. For the semi-implicit Euler method without damping this is
dt √(k/m) ≤ 2 (Hairer, Lubich, Wanner 2006, "Geometric Numerical Integration", I.1.4).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations

from sim_node.compiler.analysis.linear import ANYTHING, Case, Spot
from sim_node.compiler.analysis.trace import Memory, Stored
from sim_node.errors import Location

TOLERANCE = 1e-7  # of the criterion: a float32's rounding of the constants is no instability


@dataclass(frozen=True, slots=True)
class Finding:
    """A loop that the integrator cannot follow: where its velocity is stored, what is wrong, what to do."""

    location: Location | None
    what: str
    remedy: str


def findings(memory: Memory, values: Mapping[int, int]) -> list[Finding]:
    """Judge every pair of elements that drive each other, and every element that damps itself.

    ``memory`` is what a substep's launches left, ``values`` gives for an array that is a state's next that of its
    value, and for one that is changed in place itself. Of several at one place the worst is told.
    """
    worst: dict[tuple[Location | None, str], tuple[float, Finding]] = {}
    states = {spot: stored for spot, stored in memory.stored.items() if spot.array in values}
    sprung: set[Spot] = set()

    def note(excess: float, location: Location | None, kind: str, what: str, remedy: str) -> None:
        known = worst.get((location, kind))
        if excess > TOLERANCE and (known is None or known[0] < excess):
            worst[location, kind] = (excess, Finding(location, f"unstable {kind}: {what}", remedy))

    for velocity, position in permutations(states, 2):
        if position.index != velocity.index:
            continue
        for kind, loop in _loops(states, position, velocity, values):
            sprung |= {position, velocity}
            if loop.excess > TOLERANCE:
                note(loop.excess, states[velocity].location, kind, loop.number, loop.remedy)
    for spot, stored in states.items():
        for case in stored.cases if spot not in sprung else ():
            d = case.slopes.get(_value(spot, values))
            if d is not None and ANYTHING not in case.slopes and d < -1.0:
                remedy = f"a dt {2.0 / (1.0 - d):.3g} times as long, or less damping"
                note(-1.0 - d, stored.location, "damping", _exceeding("dt·c/m", 1.0 - d, 2.0), remedy)
    return [found for _, found in worst.values()]


def _loops(
    states: Mapping[Spot, Stored], position: Spot, velocity: Spot, values: Mapping[int, int]
) -> Iterator[tuple[str, Loop]]:
    """The loops that a pair is, each with what to call it."""
    spring, before, cases = _value(position, values), _value(velocity, values), states[velocity].cases
    touching = any(spring not in case.slopes for case in cases)
    for x in states[position].cases:
        for v in cases:
            loop = _loop(
                x, v, spring, before
            )  # of most pairs there is none, and asking whether cases agree takes longer
            if loop is not None and x.agrees(v):
                contact = touching and any(place.compares_floats for place in v.choices)
                yield "penalty contact" if contact else "spring-damper loop", loop


def _value(spot: Spot, values: Mapping[int, int]) -> Spot:
    return Spot(values[spot.array], spot.index, spot.byte)


def _loop(x: Case, v: Case, spring: Spot, before: Spot) -> Loop | None:
    """The map of a pair with a restoring force, if it is known; that of the highest frequency it has with neighbours.

    By Gershgorin's theorem no frequency of springs to other elements is above that of the whole row: neighbours move
    the other way.
    """
    if ANYTHING in x.slopes or ANYTHING in v.slopes:
        return None
    a, b, c, d = (case.slopes.get(spot, 0.0) for case in (x, v) for spot in (spring, before))
    if a is None or b is None or c is None or d is None or not Loop(a, b, c, d).is_restoring:
        return None
    a, b = a - _others(x, spring), b - _others(x, before)
    return Loop(a, b, c - _others(v, spring), d - _others(v, before))


def _others(case: Case, own: Spot) -> float:
    """Sum of the slopes on the same coordinate of other elements."""
    return sum(
        abs(slope)
        for spot, slope in case.slopes.items()
        if slope is not None and spot.array == own.array and spot.byte == own.byte and spot.index != own.index
    )


@dataclass(frozen=True, slots=True)
class Loop:
    """x → a x + b v, v → c x + d v, with a restoring force.

    Whatever the method, dt² k/m is 1 - trace + det; with the semi-implicit one dt c/m is 1 - det, with the explicit one
    2 - trace.
    """

    a: float
    b: float
    c: float
    d: float

    @property
    def excess(self) -> float:
        """By how much Jury's criterion is missed; negative where it holds.

        A determinant above 1 is a fault of the explicit method only: else it is the model that puts energy in.
        """
        pumped = self._determinant - 1.0 if self._is_explicit else -1.0
        return max(pumped, abs(self._trace) - 1.0 - self._determinant)

    @property
    def number(self) -> str:
        """The number that is too large, and its limit."""
        root, damping = math.sqrt(self._square), 1.0 - self._determinant
        if self._is_explicit:
            damping = 2.0 - self._trace
            limit = math.sqrt(damping)
            return f"{_exceeding('dt·√(k/m)', root, limit)}{_damped(damping)}, by the explicit Euler method"
        if damping >= 2.0:
            return _exceeding("dt·c/m", damping, 2.0)
        return f"{_exceeding('dt·√(k/m)', root, math.sqrt(4.0 - 2.0 * damping))}{_damped(damping)}"

    @property
    def remedy(self) -> str:
        """What to change."""
        square, dt = self._square, self._step
        if self._is_explicit:
            damping = 2.0 - self._trace
            shorter = f"a dt below {_below(damping / square * dt)}, or " if damping > TOLERANCE else "no dt is stable: "
            return f"{shorter}move the position by the new velocity, or damp with c ≥ dt·k = {square / dt:.3g} m"
        damping = 1.0 - self._determinant
        longest = (math.sqrt(damping * damping + 4.0 * square) - damping) / square
        return f"the largest stable dt is {_below(longest * dt)}, and this is {dt:.3g}; or less stiffness, or more mass"

    @property
    def _determinant(self) -> float:
        return self.a * self.d - self.b * self.c

    @property
    def _trace(self) -> float:
        return self.a + self.d

    @property
    def _square(self) -> float:
        return 1.0 - self._trace + self._determinant

    @property
    def _is_explicit(self) -> bool:
        """Whether the position moved by the old velocity, and that, not the model, puts energy in."""
        return self.a == 1.0 and self._determinant > 1.0 and self._trace <= 2.0

    @property
    def is_restoring(self) -> bool:
        """Whether the velocity moves the position, and the position pulls the velocity back.

        The velocity Verlet method past its limit pushes it on: then the larger slope is the velocity's.
        """
        if self._square <= 0.0 or self._step <= 0.0 or self.b == 0.0:
            return False
        return self.c < 0.0 or (self.c > self.b and self._square > 1.0)

    @property
    def _step(self) -> float:
        """What the velocity is multiplied by: dt, unless the author scales otherwise."""
        moved = (1.0 - self.a) * self.d + self.b * self.c  # 0 where the position moved by the new velocity
        scale = abs(self.b * self.c) + abs((1.0 - self.a) * self.d)
        return (self.a - 1.0) / self.c if self.c and abs(moved) <= 1e-6 * scale else self.b


def _exceeding(what: str, number: float, limit: float) -> str:
    """Write a number above its limit with as many digits as show that it is."""
    digits = next((n for n in range(3, 9) if f"{number:.{n}g}" != f"{limit:.{n}g}"), 9)
    return f"{what} = {number:.{digits}g} > {limit:.{digits}g}"


def _damped(damping: float) -> str:
    return f" with dt·c/m = {damping:.3g}" if abs(damping) > TOLERANCE else ""


def _below(dt: float) -> str:
    """Write a limit so that what is written is not above it."""
    digits = 2 - math.floor(math.log10(dt)) if dt > 0.0 else 2
    return f"{math.floor(dt * 10.0**digits) / 10.0**digits:.3g}"
