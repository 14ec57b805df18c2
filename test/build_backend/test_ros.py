from __future__ import annotations

import sys
from pathlib import Path

import pytest

from build_backend.ros import WHEELS, RosError, choose

PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture
def installation(tmp_path: Path) -> Path:
    """A prefix that has rclpy for this Python, as /opt/ros/<distro> does."""
    (tmp_path / "lib" / PYTHON / "site-packages" / "rclpy").mkdir(parents=True)
    return tmp_path


def test_default_is_jazzy_from_wheels() -> None:
    ros = choose({})
    assert (ros.source, ros.name) == ("wheels", "jazzy")
    assert "ros-jazzy-rclpy" in ros.run_requires
    assert "ros-jazzy-python-cmake-module" in ros.build_requires


def test_distro_chooses_the_wheels() -> None:
    ros = choose({"ROS_DISTRO": "kilted"})
    assert all("-kilted-" in name for name in ros.run_requires)
    assert "ros-kilted-ament-cmake-ros-core" in ros.build_requires
    assert not [name for name in ros.build_requires if "jazzy" in name]


def test_zero_takes_none_even_when_one_is_sourced(installation: Path) -> None:
    ros = choose({"SIM_NODE_ROS": "0", "AMENT_PREFIX_PATH": str(installation), "ROS_DISTRO": "jazzy"})
    assert (ros.source, ros.name, ros.build_requires, ros.run_requires) == ("none", "none", [], [])


def test_a_sourced_installation_comes_first(installation: Path) -> None:
    ros = choose({"AMENT_PREFIX_PATH": f"/nowhere:{installation}", "ROS_DISTRO": "rolling"})
    assert (ros.source, ros.name) == ("system", "system-rolling")
    assert ros.paths == (str(installation / "lib" / PYTHON / "site-packages"),)
    assert ros.run_requires == []
    assert not [name for name in ros.build_requires if name.startswith("ros-")]


def test_an_installation_for_another_python_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "lib" / "python3.8" / "site-packages" / "rclpy").mkdir(parents=True)
    assert choose({"AMENT_PREFIX_PATH": str(tmp_path)}).source == "wheels"


def test_a_distro_without_wheels_is_refused_with_advice() -> None:
    with pytest.raises(
        RosError, match=r"ROS_DISTRO=humble has no wheels.*set ROS_DISTRO to jazzy or kilted.*SIM_NODE_ROS=0"
    ):
        choose({"ROS_DISTRO": "humble"})


@pytest.mark.parametrize("distro", WHEELS)
def test_requirements_have_no_upper_bound_but_the_known_one(distro: str) -> None:
    assert [name for name in choose({"ROS_DISTRO": distro}).build_requires if "<" in name or "==" in name] == ["empy<4"]
