"""The page about ros2_control, and its example: description, controllers and plant name the same joints and topics."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from ruamel.yaml import YAML

from sim_node.plant.reference import reference

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "ros2_control"
TEXT = (ROOT / "docs" / "ros2_control.md").read_text("utf-8")
ROBOT = ElementTree.parse(EXAMPLE / "arm.urdf").getroot()
CONTROL = ROBOT.find("ros2_control")
PLANT = YAML(typ="safe").load(EXAMPLE / "plant.yaml")["/**"]["ros__parameters"]
CONTROLLERS = YAML(typ="safe").load(EXAMPLE / "controllers.yaml")
STATES, COMMANDS = PLANT["topics"]["joint_states"], PLANT["commands"]["joint_commands"]


def interfaces(kind):
    """The interfaces of each joint of the hardware."""
    return {joint.get("name"): {each.get("name") for each in joint.findall(kind)} for joint in CONTROL.findall("joint")}


@pytest.mark.parametrize(("kind", "topic"), [("state_interface", STATES), ("command_interface", COMMANDS)])
def test_hardware_and_plant_have_the_same_joints_and_interfaces(kind, topic):
    assert interfaces(kind) == {name: set(topic["fields"]) for name in topic["names"]}


def test_the_joints_are_the_robots():
    movable = [joint.get("name") for joint in ROBOT.findall("joint") if joint.get("type") != "fixed"]
    assert movable == STATES["names"] == COMMANDS["names"]
    links = {link.get("name") for link in ROBOT.findall("link")}
    ends = [joint.find(end).get("link") for joint in ROBOT.findall("joint") for end in ("parent", "child")]
    assert links == set(ends)


def test_the_topics_are_the_plants_and_the_pages():
    parameters = {each.get("name"): each.text for each in CONTROL.find("hardware").findall("param")}
    assert parameters["joint_states_topic"] == "/plant/joint_states"
    assert parameters["joint_commands_topic"] == "/plant/joint_commands"
    for name, value in parameters.items():
        (row,) = [line for line in TEXT.splitlines() if line.startswith(f"| `{name}`")]
        assert f"`{value}`" in row.split("|")[3]
    assert CONTROL.find("hardware").find("plugin").text in TEXT


def test_controllers_use_interfaces_that_there_are():
    declared = CONTROLLERS["controller_manager"]["ros__parameters"]
    rate = declared.pop("update_rate")
    assert STATES["rate"] >= 2 * rate
    assert {name for name in CONTROLLERS if name != "controller_manager"} | {"joint_state_broadcaster"} == set(declared)
    commands, states = set(COMMANDS["fields"]), set(STATES["fields"])
    for name, each in CONTROLLERS.items():
        own = each["ros__parameters"]
        if name != "controller_manager":
            assert own["joints"] == STATES["names"]
            assert set(own.get("command_interfaces", [own.get("interface_name")])) <= commands
            assert set(own.get("state_interfaces", ())) <= states


def test_what_is_mapped_is_of_the_plant():
    declared = reference(f"{EXAMPLE / 'arm.py'}:Arm").declarations
    assert set(STATES["fields"].values()) <= {*declared.states, *declared.outputs}
    assert set(COMMANDS["fields"].values()) <= set(declared.inputs)
    assert declared.parameters["joints"].default == len(STATES["names"])


def test_the_page_shows_the_file():
    (shown,) = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    assert shown in (EXAMPLE / "plant.yaml").read_text("utf-8")


def test_what_it_points_at_is_there():
    for path in [*re.findall(r"\]\(([\w/.]+)\)", TEXT), *re.findall(r"`(test/[\w/]+\.py)`", TEXT)]:
        assert (ROOT / "docs" / path).exists() or (ROOT / path).exists(), path


def test_the_launch_file_says_what_its_arguments_are():
    pytest.importorskip("launch_ros", reason="launch_ros is not installed")
    from launch import LaunchDescription
    from launch.actions import DeclareLaunchArgument
    from launch.launch_description_sources import PythonLaunchDescriptionSource

    file = ROOT / "launch" / "ros2_control.launch.py"
    made = PythonLaunchDescriptionSource(str(file)).try_get_launch_description_without_context()
    assert isinstance(made, LaunchDescription)
    described = [each for each in made.entities if isinstance(each, DeclareLaunchArgument)]
    assert all(each.description for each in described)
