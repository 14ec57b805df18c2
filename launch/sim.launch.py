"""Run a plant: start the node, configure it, wait until it is inactive, activate it."""

from __future__ import annotations

from launch import EventHandler, LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, EmitEvent, LogInfo, OpaqueFunction, RegisterEventHandler, Shutdown
from launch.conditions import IfCondition
from launch.event_handlers import OnProcessStart
from launch.events import matches_action
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import LifecycleNode
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from lifecycle_msgs.msg import Transition

# Those that are parameters of the node; left empty, the config file or the node's own default decides.
PARAMETERS = {
    "plant": "the plant to run: module:Class, file.py or file.py:Class, or the name of one that comes with sim_node",
    "rate": "ticks in a second of real time",
    "dt": "simulated seconds a tick; 0 means 1/rate",
    "substeps": "runs of the plan in a tick",
    "seed": "seed of the initial state and of random numbers",
    "clock": "what fires ticks: native, timer, lockstep or free",
    "device": "where kernels run: cpu, cuda:0, a GPU's uuid or words of its name, or python",
}
ARGUMENTS = {
    "config": ("", "YAML file of parameters"),
    "namespace": ("", "namespace of the node"),
    "name": ("plant", "name of the node"),
    "autostart": ("true", "configure and activate the node; false leaves that to `ros2 lifecycle set`"),
    "log_level": ("info", "least severe log messages shown: debug, info, warn, error or fatal"),
}


def change(node: LifecycleNode, transition: int) -> EmitEvent:
    """Ask the node for a transition."""
    return EmitEvent(event=ChangeState(lifecycle_node_matcher=matches_action(node), transition_id=transition))


def end(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """End the launch with the node, unless it is the launch that ends the node."""
    return [] if context.is_shutdown else [Shutdown(reason="the node ended")]


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Describe the node and the order of its transitions."""
    given = {name: LaunchConfiguration(name).perform(context) for name in (*PARAMETERS, *ARGUMENTS)}
    parameters: list[object] = [given["config"]] if given["config"] else []
    parameters.append({name: given[name] for name in PARAMETERS if given[name]})
    node = LifecycleNode(
        package="sim_node",
        executable="sim_node",
        name=given["name"],
        namespace=given["namespace"],
        parameters=parameters,
        ros_arguments=["--log-level", given["log_level"]],
        output="screen",
        emulate_tty=True,
        on_exit=[OpaqueFunction(function=end)],
    )
    autostart = IfCondition(LaunchConfiguration("autostart"))
    return [node, *(RegisterEventHandler(step, condition=autostart) for step in ascent(node, given["name"]))]


def ascent(node: LifecycleNode, name: str) -> list[EventHandler]:
    """Take the node from its start to active, and say where it stopped."""

    def advice(transition: str) -> LogInfo:
        return LogInfo(
            msg=f"{name} did not {transition}: its own message above says why. Mend it (`ros2 param set`), then try "
            f"again: `ros2 lifecycle set <node> {transition}`"
        )

    def reached(start: str, goal: str, then: LaunchDescriptionEntity) -> OnStateTransition:
        return OnStateTransition(target_lifecycle_node=node, start_state=start, goal_state=goal, entities=[then])

    return [
        OnProcessStart(target_action=node, on_start=[change(node, Transition.TRANSITION_CONFIGURE)]),
        reached("configuring", "inactive", change(node, Transition.TRANSITION_ACTIVATE)),
        reached("configuring", "unconfigured", advice("configure")),
        reached("activating", "inactive", advice("activate")),
    ]


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments and start."""
    arguments = [DeclareLaunchArgument(name, default_value="", description=text) for name, text in PARAMETERS.items()]
    arguments += [
        DeclareLaunchArgument(name, default_value=default, description=text)
        for name, (default, text) in ARGUMENTS.items()
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=start)])
