"""Plants as commands name them: a reference, or a node's parameter file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sim_node.errors import SimNodeError


def plants_of(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Name the plants behind a reference or a node's YAML file, each with the parameters given there.

    Raises SimNodeError when the file cannot be read or names no plant.
    """
    if not text.endswith((".yaml", ".yml")):
        return [(text, {})]
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        tree = YAML(typ="safe").load(Path(text).read_text("utf-8"))
    except (OSError, UnicodeDecodeError, YAMLError) as fault:
        raise SimNodeError(f"{text}: cannot be read: {str(fault).splitlines()[0]}") from fault
    found = [(str(parameters["plant"]), dict(parameters.get("plant_parameters") or {})) for parameters in _nodes(tree)]
    if not found:
        raise SimNodeError(f"{text}: no node in it has a parameter 'plant' under ros__parameters")
    return found


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Find the parameters of each node that runs a plant, at any depth of namespaces."""
    if not isinstance(tree, dict):
        return
    for key, value in tree.items():
        if key == "ros__parameters" and isinstance(value, dict) and value.get("plant"):
            yield value
        else:
            yield from _nodes(value)
