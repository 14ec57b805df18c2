"""The error families of the package: one per operation, each message saying where, what, why and what to do."""

from __future__ import annotations

from typing import Any, NamedTuple


class Location(NamedTuple):
    """A place in a user's source file; lines count from 1, columns from 0."""

    file: str
    line: int
    column: int
    text: str = ""
    inside: str = ""
    caller: Location | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column + 1}"

    def excerpt(self) -> str:
        """Show the source line with a caret under the column, then the chain of calls that led there."""
        body = self.text.expandtabs(1)
        lead = len(body) - len(body.lstrip())
        shown = f"    {body.strip()}\n    {' ' * max(self.column - lead, 0)}^" if body.strip() else ""
        chain, caller = [], self.caller
        while caller is not None:
            chain.append(f"  called from {caller.inside or '<module>'} at {caller}")
            caller = caller.caller
        return "\n".join(part for part in (shown, *chain) if part)


def _written(what: str, location: Location | None, remedy: str) -> str:
    head = f"{location}: {what}" if location else what
    parts = [head, location.excerpt() if location else "", f"  instead: {remedy}" if remedy else ""]
    return "\n".join(part for part in parts if part)


class Coded:
    """What the catalogue of mistakes (``mistakes.py``) makes: the message's first line ends with the code."""

    args: tuple[Any, ...]
    code = ""  # such as SN201; nothing where the catalogue does not have it

    def __str__(self) -> str:
        text = str(self.args[0]) if len(self.args) == 1 else super().__str__()
        head, end, rest = text.partition("\n")
        return f"{head} [{self.code}]{end}{rest}" if self.code else text


class SimNodeError(Coded, RuntimeError):
    """Base of every error this package raises on purpose; a RuntimeError, which is what code for Warp expects."""


class BuildError(SimNodeError):
    """A kernel or func cannot be compiled.

    Attributes: ``location`` (where), ``what`` (the fault), ``remedy`` (what to write instead).
    """

    def __init__(self, what: str, location: Location | None = None, remedy: str = "") -> None:
        self.what, self.location, self.remedy = what, location, remedy
        super().__init__(_written(what, location, remedy))


class BuildTypeError(BuildError, TypeError):
    """Operand, argument or variable types do not agree."""


class BuildNameError(BuildError, NameError, KeyError):
    """A name is unknown, or unassigned on some path; a KeyError too, which is what code for Warp expects."""


class BuildAttributeError(BuildError, AttributeError):
    """A module, type or value has no such attribute."""


class BuildValueError(BuildError, ValueError):
    """A number that the build knows is one that cannot be meant, such as a step of 0."""


class UnsupportedError(BuildError):
    """Python that the kernel language refuses, named rather than misread."""


class AbsentError(BuildError):
    """LLVM is not installed here."""


# The names by which code for Warp catches them.
WarpCodegenError = BuildError
WarpCodegenTypeError = BuildTypeError
WarpCodegenKeyError = BuildNameError
WarpCodegenAttributeError = BuildAttributeError
WarpCodegenValueError = BuildValueError


class StabilityWarning(Coded, RuntimeWarning):
    """The integrator of a plan cannot follow a spring, a damper or a contact in it, with the values that they have.

    Attributes: ``location`` (where the velocity is stored), ``what`` (the number and its limit), ``remedy``.
    """

    def __init__(self, what: str, location: Location | None = None, remedy: str = "") -> None:
        self.what, self.location, self.remedy = what, location, remedy
        super().__init__(_written(what, location, remedy))


def placed(fault: BaseException) -> str:
    """Say in one line what an exception is and where it was raised: ``TypeError: … (file.py:12)``."""
    trace = fault.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" ({trace.tb_frame.f_code.co_filename}:{trace.tb_lineno})" if trace is not None else ""
    text = " ".join(str(fault).split())
    return f"{type(fault).__name__}{': ' if text else ''}{text}{where}"


class BundleError(SimNodeError):
    """A bundle is damaged, incomplete, or not for this package or processor."""


class DeviceError(SimNodeError, ValueError):
    """A device is not present."""


class DriverError(DeviceError):
    """The driver of a GPU refused what it was asked. Attributes: ``result`` (its name of that, as CUDA_ERROR_…)."""

    def __init__(self, told: str, result: str = "") -> None:
        self.result = result
        super().__init__(told)


class LaunchError(SimNodeError, TypeError):
    """The arguments of a launch do not fit the kernel."""


class KernelError(SimNodeError):
    """A kernel stopped itself while running.

    Attributes: ``location`` (kernel source), ``kernel`` (name), ``thread`` (its tid, a tuple
    where the launch has dimensions), ``launch`` (where it was launched).
    """

    def __init__(
        self, what: str, location: Location | None, kernel: str, thread: int | tuple[int, ...], launch: str = ""
    ) -> None:
        self.what, self.location, self.kernel, self.thread, self.launch = what, location, kernel, thread, launch
        parts = [
            f"{location}: {what} in kernel '{kernel}', thread {thread}" if location else what,
            location.excerpt() if location else "",
            f"  launched at {launch}" if launch else "",
        ]
        super().__init__("\n".join(part for part in parts if part))


class PlantError(SimNodeError, ValueError):
    """A plant is declared, parametrised or stepped wrongly."""


class RingError(SimNodeError, OSError):
    """A ring cannot be created, opened, read or written."""


class BagError(SimNodeError, ValueError):
    """A bag cannot be read, or does not hold what replay needs."""


class WireError(SimNodeError, ValueError):
    """What connects a plant with a bus is described wrongly, or cannot be opened."""
