"""What a YAML file says of a campaign: a table of cases, each a run with faults of which something is expected."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sim_node.errors import PlantError
from sim_node.layout import Field
from sim_node.plant.fault import Fault
from sim_node.section import Section
from sim_node.testing.expectation import ALWAYS, WHEN, Expectation
from sim_node.testing.options import Options

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,80}")
_OPTIONS = ("plant", "rate", "substeps", "device", "realtime", "keyframe_every")
_OF_BOTH = ("parameters", "seed", "controller", "answers", "limit", "miss", "seconds", "set", "expect")
_OF_CASE = (*_OF_BOTH, "about", "requirements", "faults")
_GIVEN = (*_OPTIONS, "parameters", "seed", "controller", "answers", "limit", "miss")  # which the rig's options are
_MOST_SECONDS = 1e6


@dataclass(frozen=True, slots=True)
class Case:
    """A run of ``seconds`` with its ``options``, ``inputs`` set and ``faults`` asked for before the first tick.

    A fault is what ``Rig.fault`` takes, with its ``variable``. ``about`` and ``requirements`` are for the report.
    """

    name: str
    options: Options
    seconds: float
    inputs: Mapping[str, Any]
    faults: Sequence[Mapping[str, Any]]
    expectations: Sequence[Expectation]
    about: str = ""
    requirements: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Campaign:
    """The cases of a file, in their order. Attributes: ``path``, ``cases``."""

    path: Path
    cases: tuple[Case, ...]

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.stem

    @staticmethod
    def read(path: Path) -> Campaign:
        """Read a file, and make its plant, so that all names in it are known to be right.

        All cases have the same plan: variables that any case faults may have faults in each.
        Raises PlantError with file and key of the first thing that is wrong.
        """
        top = Section.of_file(path, PlantError, (*_OPTIONS, *_OF_BOTH, "cases"))
        sections = list(top.section("cases").sections(_OF_CASE))
        if not sections:
            raise top.fault("no case is named; name some below 'cases'")
        cases = [_case(top, name, section) for name, section in sections]
        fields: dict[str, tuple[Field, ...]] = {}
        delays: dict[str, int] = {}
        for case, (_, section) in zip(cases, sections):
            fields[case.name] = _fields(section, case.options)
            for asked, row in zip(case.faults, section.rows("faults")):
                fault = _fault(row, asked, fields[case.name], case.options.dt_ns)
                ticks = int(fault.value) if fault.kind == "delay" else 0
                delays[fault.variable] = max(delays.get(fault.variable, 0), ticks)
        allowed = tuple(f"{name}:{ticks}" for name, ticks in delays.items())
        cases = [replace(case, options=replace(case.options, faults=allowed)) for case in cases]
        if allowed:
            fields = {case.name: _fields(top, case.options) for case in cases}
        for case, (_, section) in zip(cases, sections):
            _check(section, case, fields[case.name])
        return Campaign(path, tuple(cases))

    def chosen(self, names: Sequence[str]) -> Campaign:
        """Keep the cases of these names; all, where there is none. Raises PlantError for a name that no case has."""
        known = [case.name for case in self.cases]
        for name in names:
            if name not in known:
                raise PlantError(f"{self.path}: no case '{name}'; there are {', '.join(known)}")
        return replace(self, cases=tuple(case for case in self.cases if not names or case.name in names))


def _case(top: Section, name: str, section: Section) -> Case:
    if not _NAME.fullmatch(name):
        raise top.fault(f"the name of a case is 1 to 80 letters, digits and _ . -, not {name!r}", "cases")
    merged = {key: value for key, value in {**top.values, **section.values}.items() if key in _GIVEN}
    for key in ("parameters", "set", "expect"):  # of these each name counts by itself
        merged[key] = {**top.section(key).values, **section.section(key).values}
    inputs, expected = merged.pop("set"), Section(f"{section.place}.expect", merged.pop("expect"), PlantError)
    if "controller" in merged:
        merged["controller"] = _words(section if "controller" in section.values else top, top)
    if not isinstance(merged.get("plant"), str):
        raise top.fault("a reference stands here, as module:Class", "plant")
    plant = str(merged.pop("plant")).replace("{folder}", _folder(top))
    spans = section if "seconds" in section.values else top
    seconds = spans.number("seconds", low=0.0)
    if not 0 < seconds <= _MOST_SECONDS:
        raise spans.fault(f"a case lasts for more than 0 and at most {_MOST_SECONDS:g} s", "seconds")
    try:
        options = Options.of(plant, merged)
        _ = options.dt_ns, options.command
    except (PlantError, TypeError) as fault:
        raise section.fault(str(fault)) from None
    requirements = section.values.get("requirements", [])
    if not isinstance(requirements, list):
        raise section.fault(f"a list stands here, not {requirements!r}", "requirements")
    expectations = [_expectation(each, rest) for each, rest in expected.sections(_KEYS)]
    if not expectations:
        raise section.fault("nothing is expected of it; say what below 'expect'")
    faults = [dict(row.values) for row in section.rows("faults")]
    about = section.text("about") if "about" in section.values else ""
    return Case(name, options, seconds, inputs, faults, expectations, about, [str(each) for each in requirements])


def _folder(top: Section) -> str:
    return str(Path(top.place).resolve().parent)


def _words(section: Section, top: Section) -> list[str]:
    """The command line of a controller, in which {python} and {folder} (of the file) are filled in."""
    words = section.values["controller"]
    if not isinstance(words, list) or not words or not all(isinstance(word, str | int | float) for word in words):
        raise section.fault(f"a command line as a list of words stands here, not {words!r}", "controller")
    return [str(word).replace("{python}", sys.executable).replace("{folder}", _folder(top)) for word in words]


_KEYS = ("field", "min", "max", "after", "until", "when")


def _expectation(name: str, section: Section) -> Expectation:
    if "min" not in section.values and "max" not in section.values:
        raise section.fault("'min' or 'max' says what is expected; give one or both")
    low, high, until = (
        section.number(key) if key in section.values else default
        for key, default in (("min", -math.inf), ("max", math.inf), ("until", math.inf))
    )
    after = section.number("after", 0.0, low=0.0)
    if low > high or until <= after:
        raise section.fault("its limits, or its times, leave nothing between them")
    return Expectation(name, section.text("field"), low, high, after, until, section.text("when", ALWAYS, WHEN))


def _fields(section: Section, options: Options) -> tuple[Field, ...]:
    try:
        plant = options.make()
    except (PlantError, TypeError) as fault:
        raise section.fault(str(fault)) from None
    return (*plant.input_layout, *plant.state_layout)


def _fault(section: Section, asked: Mapping[str, Any], fields: Sequence[Field], dt_ns: int) -> Fault:
    name = section.text("variable")
    field = next((field for field in fields if field.name == name), None)
    if field is None:
        raise section.fault(f"the plant has no input, state or output '{name}'", "variable")
    try:
        return Fault.of(asked, field, dt_ns)
    except PlantError as fault:
        raise section.fault(str(fault)) from None


def _check(section: Section, case: Case, fields: Sequence[Field]) -> None:
    """Look up what a case names of its plant."""
    names = [field.name for field in fields]
    for name in case.inputs:
        if name not in names:
            raise section.fault(f"set: the plant has no input '{name}'")
    for each in case.expectations:
        try:
            each.part(fields)
        except PlantError as fault:
            raise section.fault(f"expect.{each.name}: {fault}") from None
        if each.after >= case.seconds:
            raise section.fault(f"expect.{each.name}: it begins after {each.after:g} s, when the case has ended")
