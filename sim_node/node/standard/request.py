"""What a node's parameters ask for: topics of standard messages, by name, that it publishes or takes commands from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from sim_node.errors.suggestion import suggestion
from sim_node.node.parameters import Declaration, ParameterError, Parameters
from sim_node.node.standard.form import Form, MisfitError, Want
from sim_node.node.standard.forms import FORMS, fitting
from sim_node.node.standard.joint_command import NAMES, JointCommand
from sim_node.node.standard.output import Output
from sim_node.part import Part
from sim_node.plant import Plant

PREFIX = "topics."
COMMANDS = "commands."
FIELDS = "fields."
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_Asked = TypeVar("_Asked")

TYPE = Declaration("type", "", "Type of the messages.", choices=tuple(FORMS))
RATE = Declaration("rate", 50.0, "Messages a second of real time, at most.", "Hz", low=1e-3, high=1000.0)


def requested(parameters: Parameters, plant: Plant, taken: Iterable[str]) -> list[Output]:
    """Declare what is given under ``topics.``, and make what it asks for; ``taken`` are names of the node's own topics.

    Raises ParameterError for the first that does not fit.
    """

    def make(name: str) -> tuple[Output, list[Declaration]]:
        under = f"{PREFIX}{name}."
        kind = replace(TYPE, name=under + TYPE.name)
        parameters.declare([kind])
        form = FORMS[str(parameters.read([kind])[kind.name])]()
        asked = _under(under, _declarations(name, form, parameters))
        options = _read(parameters, under, asked)
        parts = {member: _part(text, plant) for member, text in _filled(options).items()}
        _check(form, parts, under)
        return Output(name, form, parts, options), [kind, *asked]

    return _make(parameters, PREFIX, taken, make)


def commanded(parameters: Parameters, plant: Plant, taken: Iterable[str]) -> list[JointCommand]:
    """Declare what is given under ``commands.``, and make the topics that it asks for; otherwise as ``requested``."""

    def make(name: str) -> tuple[JointCommand, list[Declaration]]:
        under = f"{COMMANDS}{name}."
        want = _members(parameters, name, f"{under}{FIELDS}", JointCommand)
        fields = [
            Declaration(f"{FIELDS}{key}", "", f"Input that {key} sets: {each.words}.") for key, each in want.items()
        ]
        kind = replace(TYPE, choices=(JointCommand.name(),))
        asked = _under(under, [kind, NAMES, *fields])
        options = _read(parameters, under, asked)
        inputs = plant.input_layout
        parts = {member: Part.parse(text, inputs, "input") for member, text in _filled(options).items()}
        if not parts:
            names = " or ".join(f"{under}{FIELDS}{member}" for member in want)
            raise MisfitError(f"it sets nothing: give an input of the plant as {names}")
        for member, part in parts.items():
            if not want[member].takes(part.shape, part.dtype):
                raise MisfitError(f"{member} sets {want[member].words}, and not {part}")
        return JointCommand(name, parts, options["names"]), asked

    return _make(parameters, COMMANDS, taken, make)


def _make(
    parameters: Parameters, prefix: str, taken: Iterable[str], make: Callable[[str], tuple[_Asked, list[Declaration]]]
) -> list[_Asked]:
    """Make what is given under the prefix, name by name, and keep but the parameters that this declares."""
    made, declared = [], []
    for name in sorted({given.split(".")[1] for given in parameters.given(prefix)}):
        if not _NAME.fullmatch(name) or name in taken:
            why = "is a topic of the node itself" if name in taken else "is not of letters, digits and '_'"
            raise ParameterError(f"topic '{name}' {why}: choose another name")
        try:
            each, asked = make(name)
        except ParameterError:
            raise
        except ValueError as misfit:
            raise ParameterError(f"topic '{name}': {misfit}") from None
        made.append(each)
        declared += asked
    parameters.keep_only(prefix, declared)
    return made


def _under(prefix: str, declarations: Sequence[Declaration]) -> list[Declaration]:
    return [replace(each, name=prefix + each.name) for each in declarations]


def _read(parameters: Parameters, under: str, asked: Sequence[Declaration]) -> dict[str, Any]:
    """Declare a topic's parameters, and read them by their names in it."""
    parameters.declare(asked)
    return {key.removeprefix(under): value for key, value in parameters.read(asked).items()}


def _filled(options: dict[str, Any]) -> dict[str, str]:
    """List the members that are given something, with what that is."""
    return {key.removeprefix(FIELDS): str(text) for key, text in options.items() if key.startswith(FIELDS) and text}


def _declarations(name: str, form: Form, parameters: Parameters) -> list[Declaration]:
    """Declare the rest of a topic's parameters, the members that it names among them."""
    prefix = f"{PREFIX}{name}.{FIELDS}"
    fields = [
        Declaration(f"{FIELDS}{key}", "", f"Field that fills {key}: {want.words}.")
        for key, want in _members(parameters, name, prefix, type(form)).items()
    ]
    return [RATE, *form.options, *fields]


def _members(parameters: Parameters, name: str, prefix: str, form: type[Form | JointCommand]) -> dict[str, Want]:
    """List what each member of a topic's messages takes, those that only its parameters name among them.

    Raises ParameterError for one that there is not.
    """
    members = dict(form.members)
    for member in (given.removeprefix(prefix) for given in parameters.given(prefix)):
        want = form.want(member)
        if want is None:
            raise ParameterError(f"topic '{name}': {form.name()} has no '{member}'{suggestion(member, members)}")
        members[member] = want
    return members


def _part(text: str, plant: Plant) -> Part:
    try:
        return Part.parse(text, plant.host_layout)
    except ValueError as fault:
        name = text.split("[")[0].strip()
        here, published, all_ = (
            {field.name for field in layout} for layout in (plant.host_layout, plant.layout, plant.state_layout)
        )
        if name in published - here:
            raise MisfitError(f"'{name}' is published for readers on a GPU: declare it with publish='both'") from None
        if name in all_ - published:
            raise MisfitError(f"state '{name}' is not published: declare it with publish=True") from None
        raise MisfitError(str(fault)) from None


def _check(form: Form, parts: dict[str, Part], under: str) -> None:
    """Refuse members that are missing, and parts that a member does not take."""
    if not any(member in parts for member in form.leading):
        names = " or ".join(f"{under}{FIELDS}{member}" for member in form.leading)
        raise MisfitError(f"nothing fills {form.name()}: give a field of the plant as {names}")
    for member, part in parts.items():
        want = form.want(member)
        if want is not None and not want.takes(part.shape, part.dtype):
            others = ", ".join(fitting(part)) or "none"
            raise MisfitError(f"{member} takes {want.words}, and not {part}; messages that take it: {others}")
