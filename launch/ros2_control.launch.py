"""Run a plant and controllers of ros2_control that drive it by topics: an arm of three joints, or your robot."""

from __future__ import annotations

from pathlib import Path

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "ros2_control"
ARGUMENTS = {
    "plant": (f"{EXAMPLE / 'arm.py'}:Arm", "the plant to run: module:Class, file.py:Class, or a short name"),
    "config": (str(EXAMPLE / "plant.yaml"), "YAML file of the plant's parameters, its topics and commands among them"),
    "description": (str(EXAMPLE / "arm.urdf"), "URDF of the robot, whose <ros2_control> names the plant's topics"),
    "controllers": (str(EXAMPLE / "controllers.yaml"), "YAML file of the controller manager and its controllers"),
    "active": ("joint_state_broadcaster trajectory_controller", "controllers to activate, with spaces between"),
    "inactive": ("position_controller", "controllers to load and configure only, with spaces between"),
}


def control(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Describe the plant (sim.launch.py), the controller manager, and who loads its controllers."""
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    plant = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(Path(__file__).with_name("sim.launch.py"))),
        launch_arguments={name: given[name] for name in ("plant", "config")}.items(),
    )
    # the controller manager takes the robot from the topic that robot_state_publisher latches
    described = {"robot_description": Path(given["description"]).read_text("utf-8")}
    nodes = [
        Node(package="robot_state_publisher", executable="robot_state_publisher", parameters=[described]),
        Node(package="controller_manager", executable="ros2_control_node", parameters=[given["controllers"]],
             output="screen"),
    ]  # fmt: skip
    for name, flags in (("active", []), ("inactive", ["--inactive"])):
        if wanted := given[name].split():
            arguments = [*wanted, *flags, "--param-file", given["controllers"]]
            nodes.append(Node(package="controller_manager", executable="spawner", arguments=arguments))
    return [plant, *nodes]


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments and describe the loop."""
    arguments = [
        DeclareLaunchArgument(name, default_value=default, description=text)
        for name, (default, text) in ARGUMENTS.items()
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=control)])
