"""The files of a new package, as templates: ``$name`` is the package, ``$kind`` the plant's class."""

from __future__ import annotations

PLANT = '''"""The plant: what is simulated."""

import sim_node as sn


@sn.kernel
def step(
    x: sn.array(dtype=sn.float32),
    v: sn.array(dtype=sn.float32),
    force: sn.array(dtype=sn.float32),
    mass: float,
    stiffness: float,
    damping: float,
    dt: float,
    x_next: sn.array(dtype=sn.float32),
    v_next: sn.array(dtype=sn.float32),
):
    i = sn.tid()
    v_next[i] = v[i] + dt * (force[i] - stiffness * x[i] - damping * v[i]) / mass
    x_next[i] = x[i] + dt * v_next[i]


class $kind(sn.Plant):
    """Masses on springs, one beside another, each with a force on it."""

    count = sn.parameter(4, doc="number of masses", min=1)
    mass = sn.parameter(1.0, doc="mass", unit="kg", min=0.001)
    stiffness = sn.parameter(100.0, doc="stiffness of a spring", unit="N/m", min=0.0)
    damping = sn.parameter(0.5, doc="damping of a spring", unit="N*s/m", min=0.0)
    force = sn.input(sn.float32, shape="count", unit="N", doc="force on each mass")
    position = sn.state(sn.float32, shape="count", unit="m", doc="deflection", publish=True, initial=0.1)
    velocity = sn.state(sn.float32, shape="count", unit="m/s", doc="rate of deflection", publish=True)

    def build(self, plan, dt):
        plan.launch(
            step,
            dim=self.count,
            inputs=[self.position, self.velocity, self.force, self.mass, self.stiffness, self.damping, dt],
            outputs=[self.position.next, self.velocity.next],
        )
'''

CONFIG = """# Parameters of the node, and under plant_parameters those that the plant declares.
/**:
  ros__parameters:
    plant: $name.plant:$kind
    rate: 1000.0
    substeps: 2
    plant_parameters:
      count: 4
      stiffness: 100.0
"""

LAUNCH = '''"""Run the plant with the parameters of config/$name.yaml; takes the arguments of sim.launch.py."""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource


def generate_launch_description():
    sim = Path(get_package_share_directory("sim_node"), "launch", "sim.launch.py")
    config = Path(get_package_share_directory("$name"), "config", "$name.yaml")
    return LaunchDescription(
        [
            DeclareLaunchArgument("name", default_value="$name", description="name of the node"),
            DeclareLaunchArgument("config", default_value=str(config), description="YAML file of parameters"),
            IncludeLaunchDescription(PythonLaunchDescriptionSource(str(sim))),
        ]
    )
'''

TEST = '''"""The plant settles, and a controller holds it. Each test leaves a bag and a page in evidence/."""

import pytest
from $name.plant import $kind

pytestmark = pytest.mark.rig($kind, rate=1000.0, substeps=2)


def damper(t):
    """A controller: called after each tick, its answer acts on the next one."""
    return {"force": -5.0 * t["velocity"]}


@pytest.mark.requirement("REQ-1")
@pytest.mark.rig(parameters={"stiffness": 100.0, "damping": 20.0})
def test_masses_come_to_rest_where_spring_and_force_balance(rig):
    rig.set("force", [1.0, 2.0, 3.0, 4.0])
    rig.run(2.0)
    rig.until(lambda t: abs(t["velocity"]).max() < 1e-4, timeout=3.0)
    assert rig.get("position") == pytest.approx([0.01, 0.02, 0.03, 0.04], abs=1e-4)


@pytest.mark.requirement("REQ-2")
@pytest.mark.rig(controller=damper)
def test_the_controller_damps_the_swing(rig):
    rig.run(2.0)
    seconds, position = rig.history("position")
    assert abs(position[seconds > 1.5]).max() < 0.01
'''

PACKAGE_XML = """<?xml version="1.0"?>
<package format="3">
  <name>$name</name>
  <version>0.1.0</version>
  <description>A plant for sim_node</description>
  <maintainer email="you@example.com">you</maintainer>
  <license>Apache-2.0</license>

$depends  <exec_depend>ament_index_python</exec_depend>
  <exec_depend>launch</exec_depend>
  <exec_depend>sim_node</exec_depend>
  <test_depend>python3-pytest</test_depend>

  <export>
    <build_type>$build</build_type>
  </export>
</package>
"""

# What each way of building needs; for ament_python that is setuptools, which colcon brings.
DEPENDS = {
    "ament_python": "",
    "ament_cmake": """  <buildtool_depend>ament_cmake</buildtool_depend>
  <buildtool_depend>ament_cmake_python</buildtool_depend>
  <test_depend>ament_cmake_pytest</test_depend>
""",
}

SETUP_PY = """from setuptools import setup

setup(
    name="$name",
    version="0.1.0",
    packages=["$name"],
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/$name"]),
        ("share/$name", ["package.xml"]),
        ("share/$name/config", ["config/$name.yaml"]),
        ("share/$name/launch", ["launch/$name.launch.py"]),
    ],
    install_requires=["setuptools", "sim_node"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
)
"""

SETUP_CFG = """[develop]
script_dir=$$base/lib/$name
[install]
install_scripts=$$base/lib/$name
"""

CMAKE = """cmake_minimum_required(VERSION 3.16)
project($name NONE)

find_package(ament_cmake REQUIRED)
find_package(ament_cmake_python REQUIRED)

ament_python_install_package(${PROJECT_NAME})
install(DIRECTORY config launch DESTINATION share/${PROJECT_NAME})

if(BUILD_TESTING)
  find_package(ament_cmake_pytest REQUIRED)
  ament_add_pytest_test(plant test/test_$name.py)
endif()

ament_package()
"""

# Makes the package importable from its own folder, before it is built.
PYTEST = """[pytest]
pythonpath = .
testpaths = test
evidence = evidence
"""

# What tests and builds leave.
IGNORED = """/evidence/
/build/
/install/
/log/
"""

COMMON = {
    "$name/__init__.py": "",
    "$name/plant.py": PLANT,
    "config/$name.yaml": CONFIG,
    "launch/$name.launch.py": LAUNCH,
    "test/test_$name.py": TEST,
    "package.xml": PACKAGE_XML,
    "pytest.ini": PYTEST,
    ".gitignore": IGNORED,
}

# What each way of building adds.
BUILDS = {
    "ament_python": {"setup.py": SETUP_PY, "setup.cfg": SETUP_CFG, "resource/$name": ""},
    "ament_cmake": {"CMakeLists.txt": CMAKE},
}
