"""Packages in colcon workspaces, used by fresh processes that sourced them: this one, and those of `sim-node new`."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from built import examples

COLCON = Path(sys.executable).with_name("colcon")
# the ROS of the environment this Python is in, or the one that is sourced
PREFIXES = os.environ.get("AMENT_PREFIX_PATH") or sys.prefix

pytestmark = [
    pytest.mark.skipif(not COLCON.exists(), reason="colcon is not installed beside this Python"),
    pytest.mark.skipif(" " in sys.prefix, reason="colcon's setup files cannot call a Python whose path has a space"),
    pytest.mark.skipif(
        not any(Path(prefix, "share/ament_cmake").is_dir() for prefix in PREFIXES.split(os.pathsep)),
        reason="ROS (ament_cmake) is neither installed beside this Python nor sourced",
    ),
]


@pytest.fixture(scope="module")
def workspace(source: Path, environ: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp("workspace")
    shutil.copytree(source, workspace / "src" / "sim_node")
    colcon(workspace, environ, "build", "--cmake-args", "-G", "Ninja")
    return workspace


def colcon(workspace: Path, environ: dict[str, str], *arguments: str) -> str:
    """Run colcon in a workspace and return what it printed."""
    done = subprocess.run(
        [str(COLCON), *arguments],
        cwd=workspace,
        env={**environ, "AMENT_PREFIX_PATH": PREFIXES, "COLCON_LOG_PATH": str(workspace / "log")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def sourced(workspace: Path, environ: dict[str, str], code: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a shell that sourced the workspace."""
    script = f". install/setup.bash && cd / && exec python -c {shlex.quote(code)}"
    return subprocess.run(
        ["bash", "-c", script],
        cwd=workspace,
        env={**environ, "AMENT_PREFIX_PATH": PREFIXES},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_messages_and_extension_import(workspace: Path, environ: dict[str, str]) -> None:
    code = """
import json, sim_node._native, sim_node.msg
from rclpy.serialization import deserialize_message, serialize_message
tick = sim_node.msg.Tick(step=7)
same = deserialize_message(serialize_message(tick), sim_node.msg.Tick) == tick
print(json.dumps([same, sim_node.__file__, sim_node.msg.__file__, sim_node._native.__file__]))
"""
    done = sourced(workspace, environ, code)
    assert done.returncode == 0, done.stderr
    same, *files = json.loads(done.stdout)
    assert same
    for file in files:
        assert Path(file).is_relative_to(workspace / "install")


def test_ros_finds_the_package(workspace: Path, environ: dict[str, str]) -> None:
    code = "from ament_index_python import get_package_prefix; print(get_package_prefix('sim_node'))"
    done = sourced(workspace, environ, code)
    assert done.returncode == 0, done.stderr
    prefix = Path(done.stdout.strip())
    assert prefix == workspace / "install" / "sim_node"
    for name in ("lib/sim_node/sim_node", "bin/sim-node"):
        assert os.access(prefix / name, os.X_OK), name
    for name in ("package.xml", "launch/sim.launch.py", "msg/Tick.msg"):
        assert (prefix / "share" / "sim_node" / name).is_file(), name
    assert list(prefix.glob("lib/python3*/site-packages/sim_node/msg/Tick.msg"))
    assert list(prefix.glob("lib/python3*/site-packages/sim_node/include/sim_node/ring.h"))


def test_controllers_find_the_header(workspace: Path, environ: dict[str, str], tmp_path: Path) -> None:
    """In the environment that the workspace's setup file makes."""
    script = ". install/setup.bash && env -0"
    names = {**environ, "AMENT_PREFIX_PATH": PREFIXES}
    said = subprocess.run(["bash", "-c", script], cwd=workspace, env=names, capture_output=True, text=True, check=True)
    sourced = dict(line.split("=", 1) for line in said.stdout.split("\0") if "=" in line)
    folder = examples(tmp_path / "build", environ=sourced)
    assert f"sim_node_DIR:PATH={workspace}/install/sim_node/share/" in (folder / "CMakeCache.txt").read_text()


def test_new_packages_build_and_pass_their_tests(environ: dict[str, str], tmp_path: Path) -> None:
    source = tmp_path / "src"
    for build in ("ament_python", "ament_cmake"):
        command = [sys.executable, "-m", "sim_node.cli", "new", f"rig_{build}", "--build", build, "--dir", str(source)]
        subprocess.run(command, env=environ, check=True, capture_output=True)
    colcon(tmp_path, environ, "build", "--cmake-args", "-G", "Ninja")
    colcon(tmp_path, environ, "test", "--return-code-on-test-failure")
    for build in ("ament_python", "ament_cmake"):
        assert 'name="test_the_controller_damps_the_swing"' in "".join(
            path.read_text() for path in (tmp_path / "build" / f"rig_{build}").rglob("*.xml")
        )
    code = """
from importlib.util import find_spec
from ament_index_python import get_package_share_path
for build in ("ament_python", "ament_cmake"):
    share = get_package_share_path(f"rig_{build}")
    for file in ("package.xml", f"config/rig_{build}.yaml", f"launch/rig_{build}.launch.py"):
        assert (share / file).is_file(), file
    print(find_spec(f"rig_{build}.plant").origin)
"""
    done = sourced(tmp_path, environ, code)
    assert done.returncode == 0, done.stderr
    for file in done.stdout.split():
        assert Path(file).is_relative_to(tmp_path / "install")
