"""The ECU example: its software alone, and its demo as users run it, over UDP multicast between processes."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import can
import pytest

from sim_node.testing.campaign import Campaign
from sim_node.testing.verdict import tried
from sim_node.wires.wiring import Wiring

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "ecu"


@pytest.fixture
def ecu():
    spec = importlib.util.spec_from_file_location("ecu", FOLDER / "ecu.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Ecu(FOLDER / "suspension.dbc")


def test_ecu_and_wiring_agree_on_the_messages(ecu):
    """The ECU has been written for itself: what one side says, the other takes."""
    wiring = Wiring.read(FOLDER / "can.yaml")
    body, damper = wiring.sent[0].coding, wiring.received[0].coding
    content = body.encode({"FrontLeft": 100, "RearRight": -1600}, 3)
    ecu.hear(can.Message(arbitration_id=272, data=content), 10.0)
    values, count = damper.decode(bytes(ecu.say(10.0).data))
    assert (values["FrontLeft"], values["FrontRight"], values["RearRight"], count) == (-1500, 0, 2000, 0)
    assert (ecu.heard, ecu.wrong, ecu.limp) == (1, 0, 0)


def test_without_a_body_to_trust_it_commands_no_force(ecu):
    body = Wiring.read(FOLDER / "can.yaml").sent[0].coding
    content = bytearray(body.encode({"FrontLeft": 100}, 0))
    ecu.hear(can.Message(arbitration_id=272, data=content), 0.0)
    content[4] ^= 1
    ecu.hear(can.Message(arbitration_id=272, data=content), 0.04)
    ecu.hear(can.Message(arbitration_id=99, data=content), 0.04)
    damper = Wiring.read(FOLDER / "can.yaml").received[0].coding
    assert damper.decode(bytes(ecu.say(0.05).data))[0]["FrontLeft"] == -1500
    assert damper.decode(bytes(ecu.say(0.051).data))[0]["FrontLeft"] == 0
    assert (ecu.heard, ecu.wrong, ecu.limp, ecu.said) == (1, 1, 1, 2)


def test_its_campaign_has_20_cases_of_which_these_pass(tmp_path):
    """In the plant's own time: a second run of a case has the same bits."""
    campaign = Campaign.read(FOLDER / "campaign.yaml")
    assert len(campaign.cases) == 20
    hashes = []
    for number, name in enumerate(("bus_off", "velocity_nan", "velocity_nan")):
        (case,) = campaign.chosen([name]).cases
        verdict = tried(case, campaign.name, tmp_path / f"{number}")
        assert (verdict.outcome, verdict.failure) == ("passed", "")
        hashes.append(dict(verdict.properties)["state_hash"])
    assert hashes[0] != hashes[1] == hashes[2]


def test_the_demo_closes_the_loop_over_the_bus(tmp_path, ros_domain, cache):
    pytest.importorskip("rclpy", reason="installed without ROS")
    text = (FOLDER / "can.yaml").read_text().replace("port: 43113", f"port: {43200 + ros_domain}")
    (tmp_path / "can.yaml").write_text(text.replace("suspension.dbc", str(FOLDER / "suspension.dbc")))
    name = f"ecu_{os.getpid()}"
    options = ["--wiring", tmp_path / "can.yaml", "--folder", tmp_path, "--name", name, "--seconds", "2"]
    done = subprocess.run(
        [sys.executable, FOLDER / "demo.py", *map(str, options)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    counts = json.loads(re.search(r"^bus +(.*)$", done.stdout, re.MULTILINE)[1])
    assert counts["sent"]["Body"]["sent"] > 0
    assert counts["received"]["Damper"]["received"] > 0
    heard, wrong = map(int, re.search(r"heard (\d+) Body, (\d+) wrong", done.stdout).groups())
    assert heard > 0
    assert wrong == 0
    ticks, verified = map(int, re.search(r"(\d+) ticks, (\d+) verified", done.stdout).groups())
    assert ticks == verified > 0
