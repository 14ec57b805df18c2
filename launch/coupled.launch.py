"""Run plants that are coupled, in one process or each in its own, from a YAML file of plants and couplings."""

from __future__ import annotations

from pathlib import Path

import yaml
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, ExecuteProcess, OpaqueFunction, Shutdown
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration

SHARE = Path(__file__).resolve().parent.parent
ARGUMENTS = {
    "network": (
        str(SHARE / "examples" / "coupled" / "coupled.yaml"),
        "YAML file: under `plants` the parameters of each node, under `couplings` which output is which input",
    ),
    "together": ("true", "all nodes in one process; false starts one for each node, and one that couples them"),
    "bags": ("", "folder to record a bag of each node into; empty: nothing is recorded"),
}


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Describe the processes; those that record wait for their nodes by themselves."""
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    network = given["network"]
    names = list(yaml.safe_load(Path(network).read_text("utf-8")).get("plants", {}))
    apart = [(name.strip("/").replace("/", "."), ["sim-node", "run", network, "--only", name]) for name in names]
    together = IfCondition(LaunchConfiguration("together")).evaluate(context)
    commands = [("plants", ["sim-node", "run", network])] if together else apart
    commands += [] if together else [("couplings", ["sim-node", "couple", network])]
    bags = [
        (f"recorder.{label}", ["sim-node", "record", "--node", name, "--bag", f"{given['bags']}/{label}.mcap"])
        for name, (label, _) in zip(names, apart)
        if given["bags"]
    ]
    end = Shutdown(reason="a process of the coupled plants ended")
    return [
        *(ExecuteProcess(cmd=command, name=name, output="screen", on_exit=[end]) for name, command in commands),
        *(ExecuteProcess(cmd=command, name=name, output="screen", sigterm_timeout="30") for name, command in bags),
    ]


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments and start."""
    arguments = [
        DeclareLaunchArgument(name, default_value=default, description=text)
        for name, (default, text) in ARGUMENTS.items()
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=start)])
