"""What /diagnostics calls a warning or an error: limits of the settings, compared with the figures of a period."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from diagnostic_msgs.msg import DiagnosticStatus

from sim_node.node.settings import Settings


@dataclass(frozen=True, slots=True)
class Limit:
    """A figure with limits in the settings, NAME_warn and NAME_error, its unit behind; ``least``: below is worse."""

    name: str
    unit: str = ""
    least: bool = False

    def judge(self, settings: Settings, found: float) -> tuple[bytes, str] | None:
        """Give the level of a figure that is beyond a limit, and say so; a limit of 0 is none."""
        suffix = f"_{self.unit}" if self.unit else ""
        for level, word in ((DiagnosticStatus.ERROR, "error"), (DiagnosticStatus.WARN, "warn")):
            limit = getattr(settings, f"{self.name}_{word}{suffix}")
            if limit and (found < limit if self.least else found >= limit):
                bound = "less than" if self.least else "at least"
                return level, f"{self.name} {found:.4g} {self.unit}".rstrip() + f" is {bound} {word} limit {limit:g}"
        return None


LIMITS = (
    Limit("lateness", "us"),
    Limit("step_time", "us"),
    Limit("command_age", "us"),
    Limit("misses"),
    Limit("real_time_factor", least=True),
)


def judged(settings: Settings, figures: Mapping[str, float]) -> Iterator[tuple[bytes, str]]:
    """Judge the figures that are there, each at most once."""
    for limit in LIMITS:
        verdict = limit.judge(settings, figures[limit.name]) if limit.name in figures else None
        if verdict is not None:
            yield verdict
