"""Run the suspension with an ECU on a CAN bus, record it for a while, and verify the bag."""

from __future__ import annotations

from pathlib import Path

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    ExecuteProcess,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
)
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

SHARE = Path(__file__).resolve().parent.parent
ECU = SHARE / "examples" / "ecu"
ARGUMENTS = {
    "name": ("suspension", "name of the node"),
    "can": (str(ECU / "can.yaml"), "YAML file of the bus that plant and ECU are on"),
    "config": (str(SHARE / "config" / "quarter_car.yaml"), "YAML file of the node's parameters"),
    "bag": ("ecu_hil.mcap", "file (.mcap) or folder to record into; what is there is replaced"),
    "seconds": ("10", "how long to record; then the bag is verified and all ends"),
}


def loop(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Describe plant, gateway and ECU (hil.launch.py), the recorder beside them, and what follows it."""
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    hil = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(Path(__file__).with_name("hil.launch.py"))),
        launch_arguments={
            **{name: given[name] for name in ("name", "config", "can")},
            "controller": f"python3 '{ECU / 'ecu.py'}' '{given['can']}'",
            "bag": "",
        }.items(),
    )
    record = ["sim-node", "record", "--node", f"/{given['name']}", "--bag", given["bag"], "--force"]
    lasting = ["--wait", "60", "--seconds", given["seconds"]]
    recorder = ExecuteProcess(cmd=[*record, *lasting], name="recorder", output="screen")
    verify = ExecuteProcess(cmd=["sim-node", "verify", given["bag"]], name="verify", output="screen")
    end = EmitEvent(event=Shutdown(reason="the bag is recorded and verified"))
    return [
        hil,
        recorder,
        RegisterEventHandler(OnProcessExit(target_action=recorder, on_exit=[verify])),
        RegisterEventHandler(OnProcessExit(target_action=verify, on_exit=[end])),
    ]


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments and describe the loop."""
    arguments = [
        DeclareLaunchArgument(name, default_value=default, description=text)
        for name, (default, text) in ARGUMENTS.items()
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=loop)])
