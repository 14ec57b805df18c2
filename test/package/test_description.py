"""package.xml says what pyproject.toml and the sources say."""

from __future__ import annotations

import ast
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import sim_node

ROOT = Path(__file__).resolve().parent.parent.parent
XML = ElementTree.parse(ROOT / "package.xml").getroot()
# modules whose names are not their package's
BRINGS = {"ament_index_python": "rclpy", "yaml": "python3-yaml"}
# what a machine may lack: imported where it is used, and reported as absent
OPTIONAL = {"iceoryx2", "warp", "numba", "cuda", "torch", "cupy", "can", "can_msgs", "cantools", "pytest"}


def requirements() -> set[str]:
    """Return the names in setup.py's list of dependencies, wheels of ROS aside."""
    for node in ast.parse((ROOT / "setup.py").read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "DEPENDENCIES":
            return {re.split(r"[.<>=!~]", requirement)[0] for requirement in ast.literal_eval(node.value)}
    raise AssertionError("setup.py has no list DEPENDENCIES")


def imported() -> set[str]:
    """Return the first words of what the package and the launch files import, the standard library aside."""
    found: set[str] = set()
    for path in [*(ROOT / "sim_node").rglob("*.py"), *(ROOT / "launch").glob("*.py")]:
        if path.relative_to(ROOT).parts[1] in ("msg", "srv", "local"):
            continue
        tree = ast.parse(path.read_text())
        typing = {id(node) for branch in ast.walk(tree) if _is_for_typing(branch) for node in ast.walk(branch)}
        for node in ast.walk(tree):
            if id(node) in typing:
                continue
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.split(".")[0])
            elif (
                isinstance(node, ast.Call)
                and ast.unparse(node.func).endswith("import_module")
                and isinstance(name := node.args[0], ast.Constant)
            ):
                found.add(str(name.value).split(".")[0])
    return found - sys.stdlib_module_names - {"sim_node"}


def _is_for_typing(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def test_version() -> None:
    assert XML.findtext("version") == sim_node.__version__


def test_every_import_is_a_declared_dependency() -> None:
    """Of the package from PyPI in setup.py, of ROS in package.xml."""
    declared = {element.text for element in XML if element.tag in ("depend", "exec_depend")}
    missing = {BRINGS.get(name, name) for name in imported()} - declared - requirements() - OPTIONAL
    assert not missing, f"neither in setup.py's DEPENDENCIES nor in package.xml: {', '.join(sorted(missing))}"


def test_what_rosdep_does_not_install_is_named() -> None:
    """In a comment of package.xml, as a command."""
    found = re.search(r"pip install (.*)", (ROOT / "package.xml").read_text())
    assert found is not None
    keys = {(element.text or "").removeprefix("python3-") for element in XML}
    assert {name.split(".")[0] for name in found[1].split()} == requirements() - keys


def test_every_dependency_is_imported() -> None:
    assert requirements() <= imported()
