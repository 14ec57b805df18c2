"""The launch files with the real launch tools, where those are installed and so is this package."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("launch_ros", reason="launch_ros is not installed: launch files are tested with a sourced ROS")
if shutil.which("ros2") is None:
    pytest.skip("there is no ros2 command", allow_module_level=True)

from ament_index_python import PackageNotFoundError, get_package_share_directory

from sim_node.bridge.transports import posix_shm

try:
    SHARE = Path(get_package_share_directory("sim_node"))
except PackageNotFoundError:
    pytest.skip("the package is not installed", allow_module_level=True)

NAME = f"launch_{os.getpid()}"
CONTROLLER = """
from sim_node.bridge import Subscriber

with Subscriber("/rig/{name}", timeout=60.0) as ring:
    while True:
        with ring.next(60.0) as tick:
            ring.send("force", [float(tick.step % 50)] * 4)
"""


@pytest.fixture
def launch(ros_domain, cache, tmp_path):
    """Run a launch file; what it prints goes to ``log``."""
    log = tmp_path / "launch.log"
    running = []

    def start(file, *arguments):
        command = ["ros2", "launch", "sim_node", file, f"name:={NAME}", *arguments]
        with log.open("w") as output:
            running.append(subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True))
        return running[-1], log

    yield start
    for process in running:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def end(process, peer):
    """Press Ctrl-C: the terminal sends it to all of them."""
    os.killpg(process.pid, signal.SIGINT)
    peer.until(lambda: process.poll() is not None, "end of the launch")


def test_it_climbs_to_active(launch, peer_of):
    process, log = launch("sim.launch.py", f"config:={SHARE}/config/quarter_car.yaml", "rate:=500", "dt:=2e-3")
    peer = peer_of(f"/{NAME}")
    peer.until(lambda: peer.state() == "active", "active node")
    assert peer.get("rate") == 500.0
    assert peer.get("dt") == 0.002
    assert peer.get("plant_parameters.spring_stiffness") == 16e3
    end(process, peer)
    assert "process has finished cleanly" in log.read_text()
    assert "ERROR" not in log.read_text()
    assert not posix_shm.path_of(NAME).exists()


def test_without_autostart_it_waits(launch, peer_of):
    process, _ = launch("sim.launch.py", "plant:=quarter_car", "autostart:=false", "namespace:=rig")
    peer = peer_of(f"/rig/{NAME}")
    assert peer.state() == "unconfigured"
    assert peer.change("configure")
    end(process, peer)


def test_a_failed_configure_is_shown_and_mended(launch, peer_of):
    process, log = launch("sim.launch.py", "plant:=quarter_car", "rate:=nan")
    peer = peer_of(f"/{NAME}")
    peer.until(lambda: "did not configure: its own message above says why" in log.read_text(), "advice")
    assert "parameter 'rate' takes a finite number, not nan" in log.read_text()
    assert peer.set("rate", 100) == ""
    assert peer.change("configure")
    peer.until(lambda: peer.state() == "active", "active node")
    end(process, peer)


def test_hardware_in_the_loop_records_a_bag_that_verifies(launch, peer_of, tmp_path):
    from sim_node.replay.verify import verify

    script, bag = tmp_path / "controller.py", tmp_path / "bag"
    script.write_text(CONTROLLER.format(name=NAME))
    process, log = launch(
        "hil.launch.py", "plant:=quarter_car", "namespace:=rig", f"controller:=python3 {script}", f"bag:={bag}"
    )
    peer = peer_of(f"/rig/{NAME}")
    peer.until(lambda: f"receiving /rig/{NAME}/record" in log.read_text(), "recording")
    end(process, peer)
    report = verify(bag)
    assert report.ticks > 0
    assert (report.verified, report.diverged, report.lost) == (report.ticks, 0, 0)


def test_an_ecu_on_a_bus_is_recorded_verified_and_ended(launch, ros_domain, tmp_path):
    pytest.importorskip("can", reason="installed without the extra can")
    text = (SHARE / "examples" / "ecu" / "can.yaml").read_text().replace("port: 43113", f"port: {43300 + ros_domain}")
    wiring = tmp_path / "can.yaml"
    wiring.write_text(text.replace("suspension.dbc", str(SHARE / "examples" / "ecu" / "suspension.dbc")))
    process, log = launch("ecu_hil.launch.py", f"can:={wiring}", f"bag:={tmp_path}/ecu.mcap", "seconds:=2")
    assert process.wait(120) == 0
    assert "ecu.mcap: identical" in log.read_text()
    assert "heard 0 Body" not in log.read_text()
    assert "ERROR" not in log.read_text()


@pytest.mark.parametrize("together", ["true", "false"])
def test_coupled_plants_run_in_one_process_or_in_many(launch, peer_of, tmp_path, together):
    from sim_node.replay.verify import verify

    example = SHARE / "examples" / "coupled"
    network = tmp_path / "coupled.yaml"
    text = (example / "coupled.yaml").read_text().replace("/car/", f"/{NAME}/")
    network.write_text(text.replace("actuator.py", str(example / "actuator.py")))
    process, log = launch("coupled.launch.py", f"network:={network}", f"together:={together}", f"bags:={tmp_path}")
    peer = peer_of(f"/{NAME}/body")
    peer.until(lambda: f"receiving /{NAME}/body/record" in log.read_text(), "recording")
    end(process, peer)
    for name in ("body", "actuator"):
        report = verify(tmp_path / f"{NAME}.{name}.mcap")
        assert report.ticks > 0
        assert (report.verified, report.diverged) == (report.ticks, 0)
