"""The package in a colcon workspace, built with ament_cmake and used by a fresh process that sourced the workspace."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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
    command = [str(COLCON), "build", "--event-handlers", "console_direct-", "--cmake-args", "-G", "Ninja"]
    done = subprocess.run(
        command,
        cwd=workspace,
        env={**environ, "AMENT_PREFIX_PATH": PREFIXES, "COLCON_LOG_PATH": str(workspace / "log")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return workspace


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
