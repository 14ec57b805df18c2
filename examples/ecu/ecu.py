"""A suspension's ECU, a process of its own on the bus: a skyhook damper that hears Body and sends Damper each 5 ms.

Skyhook: the damper force that a damper between the body and the sky would make (Karnopp, Crosby, Harwood 1974,
"Vibration Control Using Semi-Active Force Generators"). It knows the DBC file and nothing of the plant; a Body that is
missing for 50 ms, or not the one that was sent, makes it command no force.

    python3 ecu.py can.yaml
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import can
import cantools
from ruamel.yaml import YAML

from sim_node.stop import stop_requested
from sim_node.wires.e2e import Protection

SKYHOOK = 3000.0  # N s/m
LIMIT = 2000.0  # N
CYCLE_S, TIMEOUT_S = 0.005, 0.050
CORNERS = ("FrontLeft", "FrontRight", "RearLeft", "RearRight")


class Ecu:
    """The ECU's software: ``hear`` messages, and ask it each cycle what to ``say``. Times are in seconds."""

    def __init__(self, dbc: Path) -> None:
        database = cantools.database.load_file(dbc)
        self.body, self.damper = (database.get_message_by_name(name) for name in ("Body", "Damper"))
        self.body_protection = Protection(11, 8, 0x110, mode="nibble")
        self.damper_protection = Protection(11, 8, 0x210, mode="nibble")
        self.heard_at = -TIMEOUT_S
        self.force = dict.fromkeys(CORNERS, 0.0)
        self.heard = self.wrong = self.said = self.limp = 0

    def hear(self, message: can.Message, now: float) -> None:
        """Take a message of the bus."""
        if message.arbitration_id != self.body.frame_id:
            return
        if self.body_protection.check(bytes(message.data)) is None:
            self.wrong += 1
            return
        self.heard, self.heard_at = self.heard + 1, now
        velocity = self.body.decode(message.data)
        self.force = {corner: min(max(-SKYHOOK * velocity[corner], -LIMIT), LIMIT) for corner in CORNERS}

    def say(self, now: float) -> can.Message:
        """Make the message of this cycle."""
        trusted = now - self.heard_at <= TIMEOUT_S
        self.limp += not trusted
        force = self.force if trusted else dict.fromkeys(CORNERS, 0.0)
        content = bytearray(self.damper.encode({**force, "Checksum": 0, "Counter": 0, "Identity": 0}))
        self.damper_protection.protect(content, self.said)
        self.said += 1
        return can.Message(arbitration_id=self.damper.frame_id, is_extended_id=False, data=content)


def main(path: Path) -> None:
    """Run until SIGINT or SIGTERM, then tell what was heard and said."""
    wiring = YAML(typ="safe").load(path.read_text())
    ecu = Ecu(path.parent / wiring["dbc"])
    with can.Bus(**wiring["bus"]) as bus, stop_requested() as stop:
        due = time.monotonic()
        while not stop.is_set():
            now = time.monotonic()
            if now >= due:
                bus.send(ecu.say(now))
                due = max(due + CYCLE_S, now)  # a cycle that was slept through is left out
            message = bus.recv(timeout=max(due - time.monotonic(), 0.0))
            if message is not None:
                ecu.hear(message, time.monotonic())
    print(
        f"heard {ecu.heard} Body, {ecu.wrong} wrong; said {ecu.said} Damper, {ecu.limp} of them without a Body to trust"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_name("can.yaml")))
