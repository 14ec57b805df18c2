"""The suspension's ECU in the plant's own time: gateway, bus and ECU in one process, which answers each tick.

A real bus runs in real time. Here the messages are those of `can.yaml` too, on python-can's virtual bus, but cycles and
time-outs of both ends count in simulated time: however busy the machine is, each run has the same bits.

    python3 lockstep.py can.yaml RING [--off AFTER UNTIL]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import can
import numpy as np
from ecu import CYCLE_S, Ecu

from sim_node.bridge import Subscriber
from sim_node.errors import RingError
from sim_node.wires.incoming import Incoming
from sim_node.wires.outgoing import Outgoing
from sim_node.wires.wiring import Wiring

SILENCE_S = 30.0  # of the plant, after which nothing more is to come


def main() -> None:
    """Answer each tick until the plant ends."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wiring", type=Path)
    parser.add_argument("ring")
    parser.add_argument("--off", nargs=2, type=float, metavar=("AFTER", "UNTIL"), default=(0.0, 0.0))
    given = parser.parse_args()
    wiring = Wiring.read(given.wiring)
    ecu, ecu_due = Ecu(given.wiring.parent / "suspension.dbc"), 0.0
    outgoing = [Outgoing(sent) for sent in wiring.sent]
    incoming = {each.coding.message.frame_id: Incoming(each) for each in wiring.received}
    with (
        can.Bus(interface="virtual", channel=given.ring) as plant_end,
        can.Bus(interface="virtual", channel=given.ring) as ecu_end,
        Subscriber(given.ring, timeout=SILENCE_S, writer="can") as ring,
    ):
        commands = {f.name: np.zeros(f.numpy_shape, f.element.numpy) for f in ring.inputs}
        for out in outgoing:
            out.bind(ring.layout)
        for each in incoming.values():
            each.bind(ring.inputs)
        while True:
            try:
                tick = ring.next(timeout=SILENCE_S)
            except RingError:  # the plant has ended
                return
            with tick:
                now_ns, now = tick.stamp_ns, tick.stamp_ns * 1e-9
                for out in outgoing:
                    if out.due(now_ns):
                        number, content = out.sent.coding.message.frame_id, out.content(tick.__getitem__)
                        out.counts.sent += 1
                        plant_end.send(can.Message(arbitration_id=number, is_extended_id=False, data=content))
            is_off = given.off[0] < now <= given.off[1]
            while (message := ecu_end.recv(timeout=0)) is not None:
                if not is_off:
                    ecu.hear(message, now)
            if now >= ecu_due:
                ecu_due += CYCLE_S
                ecu_end.send(ecu.say(now))
            while (message := plant_end.recv(timeout=0)) is not None:
                if not is_off:
                    incoming[message.arbitration_id].take(bytes(message.data), now, now_ns, commands)
            for each in incoming.values():
                each.watch(now_ns, commands)
                for name in each.inputs:
                    ring.send(name, commands[name])


if __name__ == "__main__":
    main()
