"""The command on python-can's virtual bus, with a ring that this test commits ticks of."""

import os
import sys
import threading

import pytest

from sim_node import dtypes
from sim_node.bridge import Publisher
from sim_node.layout import Layout

NAME = f"cli_can_{os.getpid()}"
DBC = """VERSION ""
NS_ :
BS_:
BU_: Rig Ecu
BO_ 256 Speed: 2 Rig
 SG_ Value : 0|16@1+ (0.01,0) [0|0] "m/s" Ecu
BO_ 512 Force: 2 Ecu
 SG_ Value : 0|16@1- (1,0) [0|0] "N" Rig
"""
YAML = f"""
bus: {{interface: virtual, channel: {NAME}}}
dbc: car.dbc
send: {{Speed: {{cycle_ms: 10, signals: {{Value: speed}}}}}}
receive: {{Force: {{signals: {{Value: force}}}}}}
"""
OUTPUTS = Layout.of([("speed", dtypes.float32, (), "m/s")])
INPUTS = Layout.of([("force", dtypes.float32, (), "N")])


@pytest.fixture
def file(tmp_path):
    (tmp_path / "car.dbc").write_text(DBC)
    path = tmp_path / "can.yaml"
    path.write_text(YAML)
    return path


def test_it_runs_for_so_long_and_tells_what_became_of_messages(sim_node, file, tmp_path):
    log, ended = tmp_path / "run.asc", threading.Event()
    with Publisher(OUTPUTS, INPUTS, NAME) as publisher:

        def drive():
            step = 0
            while not ended.wait(0.002):
                with publisher.next() as slot:
                    slot["speed"][...] = 12.5
                    slot.commit(step, step * 2_000_000)
                step += 1

        driving = threading.Thread(target=drive)
        driving.start()
        try:
            said = sim_node("can", file, "--node", NAME, "--seconds", 1, "--log", log, "--json")
        finally:
            ended.set()
            driving.join()
    assert said.code == 0, said.err
    sent = said.object["sent"]["Speed"]["sent"]
    assert sent > 0
    assert said.object["received"]["Force"]["received"] == 0
    assert log.read_text().count("Tx") == sent
    assert f"sim-node can: {NAME} on " in said.err


def test_without_a_plant_it_says_so(sim_node, file):
    said = sim_node("can", file, "--node", NAME, "--seconds", 0)
    assert said.code == 2
    assert f"told to stop before the plant was there: there is no ring '{NAME}'" in said.err


def test_a_log_that_cannot_be_written(sim_node, file, tmp_path):
    said = sim_node("can", file, "--log", tmp_path / "run.unknown")
    assert said.code == 2
    assert "--log" in said.err
    assert "run.unknown" in said.err


def test_without_the_libraries_it_says_what_to_install(sim_node, file, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("sim_node.wires.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "can", None)
    said = sim_node("can", file)
    assert said.code == 2
    assert "pip install 'sim_node[can]'" in said.err
