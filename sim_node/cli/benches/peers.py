"""The others that a bench on a GPU measures beside ours: whoever runs there, and why one does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from sim_node.cli.benches.absence import absence
from sim_node.cli.benches.measurement import Measurement

T = TypeVar("T")


def started(peers: Mapping[str, Callable[[], tuple[str, T]]], result: Measurement) -> dict[str, T]:
    """Start each peer, which gives its version and what it is; both are kept, or why it is absent."""
    found: dict[str, T] = {}
    for name, start in peers.items():
        try:
            version, found[name] = start()
        except Exception as absent:
            result.peers[name] = absence(absent)
        else:
            result.peers[name] = {"version": version}
    return found
