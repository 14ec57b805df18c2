"""A plant's outputs in place, and commands back: publishers, subscribers and the transports between them."""

from sim_node.bridge.handle import Handle
from sim_node.bridge.inventory import RingInfo, rings
from sim_node.bridge.leftovers import Leftover, clean
from sim_node.bridge.publisher import Publisher
from sim_node.bridge.subscriber import Subscriber
from sim_node.bridge.way import Way

__all__ = ["Handle", "Leftover", "Publisher", "RingInfo", "Subscriber", "Way", "clean", "rings"]
