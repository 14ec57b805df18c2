"""Run a plant with a controller in a process of its own, and record a bag that verifies."""

from __future__ import annotations

import shlex
from pathlib import Path

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, ExecuteProcess, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

ARGUMENTS = {
    "controller": "command line of the controller, such as `python3 controller.py /plant`; empty: none is started",
    "can": "YAML file that puts the plant on a CAN bus (`sim-node can --help`); empty: it is on none",
    "bag": "file (.mcap) or folder to record into; empty: nothing is recorded",
}


def beside(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Describe the processes beside the node; both wait for it by themselves."""
    given = {name: LaunchConfiguration(name).perform(context) for name in (*ARGUMENTS, "namespace", "name")}
    node = "/".join(("", *given["namespace"].strip("/").split("/"), given["name"])).replace("//", "/")
    commands = {
        "controller": shlex.split(given["controller"]),
        "can": ["sim-node", "can", given["can"], "--node", node] if given["can"] else [],
        "recorder": ["sim-node", "record", "--node", node, "--bag", given["bag"]] if given["bag"] else [],
    }
    # The recorder closes its bag on Ctrl-C, which takes the longer the larger the bag is.
    return [
        ExecuteProcess(cmd=command, name=name, output="screen", sigterm_timeout="30")
        for name, command in commands.items()
        if command
    ]


def generate_launch_description() -> LaunchDescription:
    """Include the simulation, whose arguments are this file's too."""
    simulation = PythonLaunchDescriptionSource(str(Path(__file__).with_name("sim.launch.py")))
    arguments = [DeclareLaunchArgument(name, default_value="", description=text) for name, text in ARGUMENTS.items()]
    return LaunchDescription([*arguments, IncludeLaunchDescription(simulation), OpaqueFunction(function=beside)])
