"""A wheel built without ROS, in build isolation, from a path with a space, installed where only numpy is."""

from __future__ import annotations

import re
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from built import examples

ROOT = Path(__file__).resolve().parent.parent.parent
MESSAGES = sorted(path.name for path in (ROOT / "msg").glob("*.msg"))


@pytest.fixture(scope="module")
def wheel(source: Path, environ: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(source)]
    done = subprocess.run(command, env={**environ, "SIM_NODE_ROS": "0"}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, environ: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a virtual environment with the wheel, numpy and no other package."""
    venv = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], env=environ, check=True)
    python = venv / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", str(wheel), "numpy"]
    subprocess.run(pip, env=environ, check=True, timeout=120)
    return python


def test_is_of_this_platform(wheel: Path) -> None:
    assert f"cp{sys.version_info.major}{sys.version_info.minor}" in wheel.name
    assert "any" not in wheel.name


def test_holds_what_is_needed_without_the_tree(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for name in MESSAGES:
        assert f"sim_node/msg/{name}" in names
    bench = "sim_node/cli/benches/bridge_reader.c"
    for name in ("sim_node/include/sim_node/ring.h", "sim_node/py.typed", "sim_node/_native.pyi", bench):
        assert name in names
    prefix = f"{'-'.join(wheel.name.split('-')[:2])}.data/data"
    assert f"{prefix}/share/sim_node/launch/sim.launch.py" in names
    python_files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "sim_node").rglob("*.py")}
    generated = {name for name in python_files if name.split("/")[1] in ("msg", "srv", "local")}
    assert python_files - generated <= set(names)


def test_holds_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"sim_node", *(top for top in tops if top.endswith((".data", ".dist-info")))}
    assert not [name for name in names if name.startswith("sim_node/msg/") and not name.endswith(".msg")]


def test_the_executable_is_one(wheel: Path) -> None:
    (info,) = (info for info in zipfile.ZipFile(wheel).infolist() if info.filename.endswith("/lib/sim_node/sim_node"))
    assert info.external_attr >> 16 & stat.S_IXUSR


def test_imports_where_only_numpy_is(python: Path, environ: dict[str, str], tmp_path: Path) -> None:
    code = "import sim_node, sim_node._native; print(sim_node._native.__file__)"
    done = subprocess.run([python, "-c", code], cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).is_relative_to(python.parent.parent)


@pytest.mark.parametrize("prefix", ["package", "environment"])
def test_cmake_finds_the_header(prefix: str, python: Path, environ: dict[str, str], tmp_path: Path) -> None:
    """Beside the package, as `sim-node inspect include-dir` says, and in the prefix; it needs the C library only."""
    code = "import sim_node, pathlib; print(pathlib.Path(sim_node.__file__).parent / 'include')"
    include = subprocess.run([python, "-c", code], env=environ, capture_output=True, text=True, check=True).stdout
    place = include.strip() if prefix == "package" else str(python.parent.parent)
    folder = examples(tmp_path / "build", f"-DCMAKE_PREFIX_PATH={place}", environ=environ)
    found = re.search(r"sim_node_DIR:PATH=(.*)", (folder / "CMakeCache.txt").read_text())
    assert found is not None
    assert Path(found[1]).is_relative_to(place)
