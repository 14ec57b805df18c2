"""What a node's parameters ask for: topics of standard messages, by name, each with type, fields and options."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from sim_node.errors.suggestion import suggestion
from sim_node.node.parameters import Declaration, ParameterError, Parameters
from sim_node.node.standard.form import Form, MisfitError
from sim_node.node.standard.forms import FORMS, fitting
from sim_node.node.standard.output import Output
from sim_node.part import Part
from sim_node.plant import Plant

PREFIX = "topics."
FIELDS = "fields."
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

TYPE = Declaration("type", "", "Type of the messages.", choices=tuple(FORMS))
RATE = Declaration("rate", 50.0, "Messages a second of real time, at most.", "Hz", low=1e-3, high=1000.0)


def requested(parameters: Parameters, plant: Plant, taken: Iterable[str]) -> list[Output]:
    """Declare what is given under ``topics.``, and make what it asks for; ``taken`` are names of the node's own topics.

    Raises ParameterError for the first that does not fit.
    """
    outputs, declared = [], []
    for name in sorted({given.split(".")[1] for given in parameters.given(PREFIX)}):
        if not _NAME.fullmatch(name) or name in taken:
            why = "is a topic of the node itself" if name in taken else "is not of letters, digits and '_'"
            raise ParameterError(f"topic '{name}' {why}: choose another name")
        under = f"{PREFIX}{name}."
        kind = replace(TYPE, name=under + TYPE.name)
        parameters.declare([kind])
        form = FORMS[str(parameters.read([kind])[kind.name])]()
        asked = [replace(each, name=under + each.name) for each in _declarations(name, form, parameters)]
        parameters.declare(asked)
        declared += [kind, *asked]
        options = {key.removeprefix(under): value for key, value in parameters.read(asked).items()}
        try:
            parts = {
                key.removeprefix(FIELDS): _part(str(text), plant)
                for key, text in options.items()
                if key.startswith(FIELDS) and text
            }
            _check(form, parts, under)
            outputs.append(Output(name, form, parts, options))
        except ValueError as misfit:
            raise ParameterError(f"topic '{name}': {misfit}") from None
    parameters.keep_only(PREFIX, declared)
    return outputs


def _declarations(name: str, form: Form, parameters: Parameters) -> list[Declaration]:
    """Declare the rest of a topic's parameters, the members that it names among them."""
    prefix = f"{PREFIX}{name}.{FIELDS}"
    members = dict(form.members)
    for member in (given.removeprefix(prefix) for given in parameters.given(prefix)):
        want = form.want(member)
        if want is None:
            raise ParameterError(f"topic '{name}': {form.name()} has no '{member}'{suggestion(member, members)}")
        members[member] = want
    fields = [
        Declaration(f"{FIELDS}{key}", "", f"Field that fills {key}: {want.words}.") for key, want in members.items()
    ]
    return [RATE, *form.options, *fields]


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
