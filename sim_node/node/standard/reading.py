"""A topic of standard messages read back: fields of the plant from the bytes of each message."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from rclpy.serialization import deserialize_message

from sim_node.layout import Field
from sim_node.node.standard.form import Form
from sim_node.node.standard.forms import FORMS
from sim_node.node.standard.output import NS
from sim_node.node.standard.template import Array, Template
from sim_node.part import Part


class Reading:
    """What a topic tells of the fields, as an address of the ring announces it.

    Attributes: ``form``, ``parts`` (by member). Raises ValueError when the announcement makes no sense.
    """

    def __init__(self, announced: Any, fields: Iterable[Field]) -> None:
        if announced.type not in FORMS or len(announced.members) != len(announced.fields):
            raise ValueError(f"topic '{announced.name}' of {announced.type} is not of a type that is known here")
        self.form: Form = FORMS[announced.type]()
        known = list(fields)
        self.parts = {
            member: Part.parse(text, known) for member, text in zip(announced.members, announced.fields, strict=True)
        }
        self._template: Template | None = None
        self._views: dict[str, Array] = {}
        self._stamp: Array | None = None

    def read(self, raw: bytes) -> tuple[dict[str, Array], int | None]:
        """Take values, by the parts' texts, and the stamp in ns (None in messages without) out of a serialised message.

        Values are copies, in type and shape of the field. Raises ValueError when the message is not as announced.
        """
        if self._template is None or len(self._template.memory) != len(raw):
            self._adopt(raw)
        assert self._template is not None
        self._template.memory[:] = np.frombuffer(raw, np.uint8)
        values = {
            part.text: self._views[member].reshape(part.shape).astype(part.dtype) for member, part in self.parts.items()
        }
        if self._stamp is None:
            return values, None
        seconds, ns = self._stamp.tolist()
        return values, seconds * NS + ns

    def _adopt(self, raw: bytes) -> None:
        """Find the numbers in messages of this size."""
        try:
            template = Template(deserialize_message(raw, self.form.kind))
            self._views = self.form.views(template, list(self.parts))
            stamps = self.form.stamps(template)
        except Exception as fault:  # a message may come from anyone, and be anything
            raise ValueError(f"a message of {self.form.name()} is not as announced: {fault}") from fault
        self._stamp = stamps[0][0] if stamps else None
        self._template = template
