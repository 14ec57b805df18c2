"""Which ticks go out on a topic: whole-number arithmetic on their numbers, so that no two rates drift apart."""

from __future__ import annotations

from fractions import Fraction


class Schedule:
    """``rate`` messages for each ``of`` ticks, and none more often than each tick.

    Tick ``step`` is due when floor(step · rate / of) is another than it was for the tick before. Rates are taken as the
    decimal numbers that they are written as: 0.1 is a tenth.
    """

    def __init__(self, rate: float, of: float) -> None:
        self._ratio = min(Fraction(repr(rate)) / Fraction(repr(of)), Fraction(1))

    def index(self, step: int) -> int:
        """Count the ticks that were due, from tick 1 until this one."""
        return step * self._ratio.numerator // self._ratio.denominator

    def after(self, step: int) -> int:
        """Give the first tick behind this one that is due."""
        return -(-(self.index(step) + 1) * self._ratio.denominator // self._ratio.numerator)
