"""A bus in this process, a DBC file, a wiring, and a ring without a plant whose ticks the test commits."""

import os
from contextlib import contextmanager
from pathlib import Path

import can
import pytest

from sim_node import dtypes
from sim_node.bridge import Publisher
from sim_node.layout import Layout
from sim_node.wires.wiring import Wiring

DBC = """VERSION ""
NS_ :
BS_:
BU_: Rig Ecu
BO_ 256 Wheels: 8 Rig
 SG_ Left : 0|16@1- (0.01,0) [-100|100] "m/s" Ecu
 SG_ Right : 16|16@1+ (0.1,-50) [0|0] "m/s" Ecu
 SG_ Gear : 32|3@1+ (1,0) [0|5] "" Ecu
 SG_ Alive : 48|4@1+ (1,0) [0|14] "" Ecu
 SG_ Check : 56|8@1+ (1,0) [0|0] "" Ecu
BO_ 2147484160 Safe: 8 Rig
 SG_ Level : 24|16@1+ (1,0) [0|0] "" Ecu
BO_ 512 Torque: 8 Ecu
 SG_ First : 24|16@1- (0.5,0) [-1000|1000] "N" Rig
 SG_ Second : 40|16@1- (0.5,0) [0|0] "N" Rig
BO_ 513 Mode: 2 Ecu
 SG_ Which M : 0|4@1+ (1,0) [0|0] "" Rig
 SG_ Slow m0 : 4|8@1+ (1,0) [0|0] "" Rig
 SG_ Fast m1 : 4|8@1+ (2,0) [0|0] "" Rig
BO_ 514 Real: 8 Ecu
 SG_ Value : 0|32@1- (1,0) [0|0] "" Rig
 SG_ Motorola : 39|16@0- (-0.25,3) [-10|20] "" Rig
BA_DEF_ BO_ "GenMsgCycleTime" INT 0 10000;
BA_DEF_DEF_ "GenMsgCycleTime" 0;
BA_ "GenMsgCycleTime" BO_ 256 10;
VAL_ 256 Gear 0 "Park" 1 "Drive";
SIG_VALTYPE_ 514 Value : 1;
"""
YAML = """
plant: {name}
bus: {{interface: virtual, channel: {name}}}
dbc: car.dbc
send:
  Wheels:
    signals: {{Left: "speed[0]", Right: {{part: "speed[1]", factor: 2, offset: 1}}, Gear: Drive}}
    counter: Alive
    checksum: {{signal: Check, crc: CRC8}}
  Safe:
    cycle_ms: 0
    signals: {{Level: level}}
    e2e: {{profile: 5, data_id: 0x1234}}
receive:
  Torque:
    signals: {{First: "force[0]", Second: "force[1]"}}
    e2e: {{profile: 5, data_id: 0x4321}}
    timeout_ms: 20
    missing: zero
    flag: lost
  Mode:
    signals: {{Slow: mode, Fast: mode}}
"""
OUTPUTS = Layout.of([("speed", dtypes.float32, (2,), "m/s"), ("level", dtypes.int32, (), "")])
INPUTS = Layout.of(
    [("force", dtypes.float32, (2,), "N"), ("lost", dtypes.int32, (), ""), ("mode", dtypes.int8, (), "")]
)


class Rig:
    """A ring that the test commits ticks of, and the ECU's side of the bus"""

    def __init__(self, publisher, bus):
        self.publisher, self.bus, self.step = publisher, bus, 0

    def tick(self, stamp_ms, left=0.0, right=0.0, level=0):
        slot = self.publisher.next()
        slot["speed"][:], slot["level"][...] = (left, right), level
        slot.commit(self.step, round(stamp_ms * 1e6))
        self.step += 1


@pytest.fixture
def outputs():
    return OUTPUTS


@pytest.fixture
def inputs():
    return INPUTS


@pytest.fixture
def name(request):
    return f"wires_{os.getpid()}_{request.node.originalname}"[:100]


@pytest.fixture
def describe(tmp_path, name):
    """Write a wiring with changes made to its text (old, new); gives its path."""

    def make(*changes, text=YAML):
        (tmp_path / "car.dbc").write_text(DBC)
        path, written = Path(tmp_path, "can.yaml"), text.format(name=name)
        for old, new in changes:
            assert old in written
            written = written.replace(old, new)
        path.write_text(written)
        return path

    return make


@pytest.fixture
def wiring(describe):
    return Wiring.read(describe())


@pytest.fixture
def rig(name):
    """Make rings of that name, one after the other: ``with rig() as rig``."""

    @contextmanager
    def make(outputs=OUTPUTS, inputs=INPUTS):
        with Publisher(outputs, inputs, name) as publisher, can.Bus(interface="virtual", channel=name) as bus:
            yield Rig(publisher, bus)

    return make


@pytest.fixture
def message(wiring):
    """Find the coding of a message by its name."""
    return {each.name: each.coding for each in (*wiring.sent, *wiring.received)}.__getitem__
