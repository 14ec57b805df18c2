"""One topic of standard messages: what it is made of, and its bytes filled from a tick."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sim_node._native import Tick
from sim_node.node.standard.form import Form
from sim_node.node.standard.template import Template
from sim_node.part import Part

NS = 1_000_000_000


class Output:
    """A message of this form that the parts fill, by member.

    ``options`` are the topic's parameters as they are read; ``rate`` is in Hz, and ``simulated`` says which time stamps
    are of. All memory is made here, and each message is filled in the same. Raises MisfitError.
    """

    def __init__(self, name: str, form: Form, parts: Mapping[str, Part], options: Mapping[str, Any]) -> None:
        self.name, self.form, self.parts = name, form, parts
        self.rate, self.simulated = options["rate"], options.get("stamp") == "simulated"
        prototype = form.prototype(parts, {**options, "name": name})
        for stamped in form.stamped(prototype):
            stamped.header.frame_id = options.get("frame_id", "")
        self.template = Template(prototype)
        views = form.views(self.template, list(parts))
        self._members = [(views[member].reshape(part.shape), part) for member, part in parts.items()]
        self._stamps = form.stamps(self.template)

    def fill(self, tick: Tick, stamp_ns: int) -> bytes:
        """Write a tick's numbers and a stamp into the message; returns it serialised."""
        with np.errstate(over="ignore"):  # what is too large for a message's type is infinite there
            for view, part in self._members:
                np.copyto(view, part.of(tick[part.field.name]))
        for stamps in self._stamps:
            stamps[:] = divmod(stamp_ns, NS)
        return self.template.memory.tobytes()
