"""Plants: what they declare, how they are stepped, and what is kept of their ticks."""

from sim_node.plant.declarations import input, output, parameter, state
from sim_node.plant.keyframe import Keyframe
from sim_node.plant.plant import Plant
from sim_node.plant.records import Records
from sim_node.plant.reference import reference, reference_of
from sim_node.plant.replayed import Replayed
from sim_node.plant.statistics import Distribution
from sim_node.plant.stepper import Stepper

__all__ = [
    "Distribution", "Keyframe", "Plant", "Records", "Replayed", "Stepper", "input", "output", "parameter",
    "reference", "reference_of", "state",
]  # fmt: skip
