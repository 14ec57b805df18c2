"""Values of signals: from physical units to the bits of a DBC file and back."""

from __future__ import annotations

import math

from cantools.database.can.signal import Signal

SLACK = 1e-6  # of a bit's worth: a limit such as 0.1 · 255 falls beside a whole number by rounding


class Scaling:
    """The scale, offset and range of a signal. A value outside the range, or none, is saturated.

    The range is what the signal's bits can hold, within the DBC's minimum and maximum where it has some that fit.
    Attributes: ``low``, ``high`` (physical), ``raw_high`` (of the bits), ``initial`` (raw).
    """

    def __init__(self, signal: Signal) -> None:
        self._scale, self._offset = float(signal.scale), float(signal.offset)
        self._whole = not signal.is_float
        low, high = self._held(signal)
        limits = [
            math.inf * sign if limit is None else (float(limit) - self._offset) / self._scale
            for limit, sign in ((signal.minimum, -1), (signal.maximum, 1))
        ]
        if self._scale < 0:
            limits = [limit if math.isfinite(limit) else -limit for limit in reversed(limits)]
        if self._whole:
            limits = [
                math.ceil(limits[0] - SLACK) if math.isfinite(limits[0]) else low,
                math.floor(limits[1] + SLACK) if math.isfinite(limits[1]) else high,
            ]
        if limits[0] <= high and low <= limits[1] and limits[0] <= limits[1]:  # else no value is in the DBC's range
            low, high = max(low, limits[0]), min(high, limits[1])
        self.raw_low, self.raw_high = low, high
        self.low, self.high = sorted((self.physical(self.raw_low), self.physical(self.raw_high)))
        self.initial = self._clipped(signal.raw_initial or 0)

    @staticmethod
    def _held(signal: Signal) -> tuple[float, float]:
        if signal.is_float:
            return -math.inf, math.inf
        most = (1 << signal.length) - 1
        return (-(most + 1) // 2, most // 2) if signal.is_signed else (0, most)

    def raw(self, value: float) -> tuple[float, bool]:
        """Give the number that the bits hold for a physical value, and whether the value was saturated."""
        exact = (value - self._offset) / self._scale
        if math.isnan(exact):
            return self.initial, True
        whole = round(exact) if self._whole and math.isfinite(exact) else exact
        clipped = self._clipped(whole)
        return clipped, clipped != whole

    def within(self, raw: float) -> tuple[float, bool]:
        """Give the nearest raw value in the range, and whether it is another; a NaN is the initial value."""
        clipped = self.initial if math.isnan(raw) else self._clipped(raw)
        return clipped, clipped != raw

    def physical(self, raw: float) -> float:
        """Give the physical value of what the bits hold."""
        return raw * self._scale + self._offset

    def _clipped(self, raw: float) -> float:
        clipped = min(max(raw, self.raw_low), self.raw_high)
        return int(clipped) if self._whole else clipped
