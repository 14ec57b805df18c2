"""Whether the integrator of a plan can follow the springs and dampers in it, with the values that they have.

A substep maps position x and velocity v of a degree of freedom to a x + b v and c x + d v, apart from what does not
depend on them. That map keeps errors bounded where both roots of its characteristic polynomial lie in the unit circle:
Jury's criterion, det ≤ 1 and \\|trace\\| ≤ 1 + det, with det = a d - b c. For the semi-implicit Euler method without
damping this is dt √(k/m) ≤ 2 (Hairer, Lubich, Wanner 2006, "Geometric Numerical Integration", I.1.4 and II.3).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sim_node.compiler.analysis.linear import Case, Cases, Memory, Spot
from sim_node.errors import Location

_TOLERANCE = 1e-7  # of the criterion: a float32's rounding of the constants is no instability


@dataclass(frozen=True, slots=True)
class Finding:
    """A loop that the integrator cannot follow: where its velocity is stored, what is wrong, what to do."""

    location: Location | None
    what: str
    remedy: str

    def __str__(self) -> str:
        head = f"{self.location}: {self.what}" if self.location else self.what
        excerpt = self.location.excerpt() if self.location else ""
        return "\n".join(part for part in (head, excerpt, f"  instead: {self.remedy}") if part)


def findings(memory: Memory, values: Mapping[int, int]) -> list[Finding]:
    """Judge every pair of states that drive each other, and every state that damps itself.

    ``memory`` is what a substep's launches leave, ``values`` gives for the identity of a next that of its value.
    """
    worst: dict[tuple[Location | None, str], tuple[float, Finding]] = {}
    for velocity in memory:
        if velocity.array not in values:
            continue
        location = memory[velocity][1]
        for excess, kind, found in _judged(memory, values, velocity, location):
            key = (location, kind)
            if key not in worst or worst[key][0] < excess:
                worst[key] = (excess, found)
    return [found for _, found in worst.values()]


def _judged(
    memory: Memory, values: Mapping[int, int], velocity: Spot, location: Location | None
) -> Iterator[tuple[float, str, Finding]]:
    before = _value(velocity, values)
    sprung = False
    for position in memory:
        if position == velocity or position.array not in values or position.index != velocity.index:
            continue
        spring = _value(position, values)
        for x, v in _pairs(memory[position][0], memory[velocity][0]):
            a, b = x.slopes.get(spring, 0.0), x.slopes.get(before, 0.0)
            c, d = v.slopes.get(spring, 0.0), v.slopes.get(before, 0.0)
            if a is None or b is None or c is None or d is None or not b * c < 0.0:
                continue
            sprung = True
            loop = _Loop(a, b, c, d).with_neighbours(_neighbours(v, spring))
            if (excess := loop.excess) > _TOLERANCE:
                kind = "penalty contact" if v.choices else "spring-damper loop"
                yield excess, kind, Finding(location, f"unstable {kind}: {loop.number}", loop.remedy)
    if sprung:
        return
    for case in memory[velocity][0]:
        d = case.slopes.get(before)
        if d is not None and d < -1.0 - _TOLERANCE:
            what = f"unstable damping: dt·c/m = {1.0 - d:.3g} > 2"
            yield -1.0 - d, "damping", Finding(location, what, f"a dt {2.0 / (1.0 - d):.3g} times as long, or less c")


def _value(spot: Spot, values: Mapping[int, int]) -> Spot:
    return Spot(values[spot.array], spot.index, spot.byte)


def _pairs(positions: Cases, velocities: Cases) -> Iterator[tuple[Case, Case]]:
    for x in positions:
        for v in velocities:
            if all(v.choices.get(key, way) == way for key, way in x.choices.items()):
                yield x, v


def _neighbours(velocity: Case, spring: Spot) -> float:
    """Sum of the slopes on the same coordinate of other elements: by Gershgorin's theorem a chain of springs has no
    frequency above that of the whole row."""
    others = (
        abs(slope)
        for spot, slope in velocity.slopes.items()
        if slope is not None and spot.array == spring.array and spot.byte == spring.byte and spot.index != spring.index
    )
    return sum(others)


@dataclass(frozen=True, slots=True)
class _Loop:
    """x → a x + b v, v → c x + d v, with a restoring force: b c < 0."""

    a: float
    b: float
    c: float
    d: float

    @property
    def semi_implicit(self) -> bool:
        """Whether the position moves by the new velocity."""
        return abs(self.a - 1.0) > _TOLERANCE * abs(self.b * self.c)

    @property
    def step(self) -> float:
        """The factor of the velocity in the position: dt, unless the author scales otherwise."""
        return (self.a - 1.0) / self.c if self.semi_implicit else self.b

    def with_neighbours(self, stiffness: float) -> _Loop:
        """The loop with the stiffness towards other elements added to its own."""
        c = self.c - math.copysign(stiffness, self.b)
        return _Loop(1.0 + self.step * c if self.semi_implicit else self.a, self.b, c, self.d)

    @property
    def excess(self) -> float:
        """By how much Jury's criterion is missed; negative where it holds."""
        determinant, trace = self.a * self.d - self.b * self.c, self.a + self.d
        return max(determinant - 1.0, abs(trace) - 1.0 - determinant)

    @property
    def _square(self) -> float:
        return -self.step * self.c  # dt² k / m

    @property
    def _damping(self) -> float:
        return 1.0 - self.d  # dt c / m

    @property
    def number(self) -> str:
        root, damping = math.sqrt(self._square), self._damping
        damped = f" with dt·c/m = {damping:.3g}" if abs(damping) > _TOLERANCE else ""
        if not self.semi_implicit:
            limit = math.sqrt(max(damping, 0.0))
            return f"dt·√(k/m) = {root:.3g} > {limit:.3g}{damped}, by the explicit Euler method"
        limit = math.sqrt(max(4.0 - 2.0 * damping, 0.0))
        return f"dt·√(k/m) = {root:.3g} > {limit:.3g}{damped}"

    @property
    def remedy(self) -> str:
        square, damping, dt = self._square, self._damping, abs(self.step)
        if self.semi_implicit:
            longest = (math.sqrt(damping * damping + 4.0 * square) - damping) / square
            return f"the largest stable dt is {longest * dt:.3g}, and this is {dt:.3g}; or less stiffness, or more mass"
        longest = damping / square
        steps = f"a dt below {longest * dt:.3g}, or " if longest > 0.0 else "no dt is stable; "
        damped = f"damp by c ≥ dt·k = {square / dt:.3g} m"
        return f"{steps}move the position by the new velocity (x + dt * v_next), or {damped}"
