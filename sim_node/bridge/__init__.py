"""A plant's outputs in place, and commands back: publishers, subscribers and the transports between them."""

import importlib
from typing import Any

from sim_node.bridge.handle import Handle
from sim_node.bridge.inventory import RingInfo, rings
from sim_node.bridge.leftovers import Leftover, clean
from sim_node.bridge.publisher import Publisher
from sim_node.bridge.subscriber import Subscriber
from sim_node.bridge.way import Way

__all__ = ["Handle", "Leftover", "Publisher", "RingInfo", "Subscriber", "Way", "clean", "connect", "rings"]

# What needs ROS, and is loaded when it is asked for: a subscriber's process has none.
_HOMES = {"connect": "sim_node.node.connection"}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'sim_node.bridge' has no attribute '{name}'")
    return getattr(importlib.import_module(home), name)
