"""package.xml says what pyproject.toml and the sources say."""

from __future__ import annotations

import ast
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import sim_node

ROOT = Path(__file__).resolve().parent.parent.parent
XML = ElementTree.parse(ROOT / "package.xml").getroot()
# modules that Python files import → the ROS package that brings them; a module of none of these is no ROS package
NOT_ROS = {"numpy", "llvmlite", "rosbags", "pydantic", "typer", "rich", "plotly", "yaml", "sim_node", "warp", "numba"}
BRINGS = {"ament_index_python": "rclpy", "launch": "launch_ros", "rosidl_runtime_py": "rclpy"}


def test_version() -> None:
    assert XML.findtext("version") == sim_node.__version__


def test_names_every_ros_package_that_is_imported() -> None:
    declared = {element.text for element in XML if element.tag in ("depend", "exec_depend")}
    imported = set()
    for path in [*(ROOT / "sim_node").rglob("*.py"), *(ROOT / "launch").glob("*.py")]:
        if path.relative_to(ROOT).parts[1] in ("msg", "srv", "local"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.split(".")[0])
    ros = {BRINGS.get(name, name) for name in imported - NOT_ROS - sys.stdlib_module_names}
    assert ros <= declared, f"package.xml lacks exec_depend: {sorted(ros - declared)}"
