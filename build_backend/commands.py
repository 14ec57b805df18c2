"""The setuptools commands that CMake stands behind: one description of the build, CMakeLists.txt, serves them all."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

import cmake
import ninja
from setuptools import Command, Distribution
from setuptools.command.build_ext import build_ext

from build_backend.ros import Ros, choose

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "sim_node"
# Kept between builds, so that an edit of one C file compiles one C file.
BUILD = ROOT / "build" / "cmake"
# What CMake installs: STAGE/python/sim_node goes into the package, the rest into the prefix.
STAGE = ROOT / "build" / "stage"


class HybridDistribution(Distribution):
    """A distribution that always has files for the prefix; they are known after CMake ran."""

    def has_data_files(self) -> bool:
        """Make a wheel run install_data."""
        return True

    # an editable wheel asks for this name
    has_data = has_data_files


class BuildNative(build_ext):
    """Run CMake, then lay the extension, the messages and the header into the package."""

    def run(self) -> None:
        """Build into build_lib or, for an editable installation, into the source tree."""
        editable = self.editable_mode or self.inplace
        # an editable installation serves this prefix only, a wheel any
        run_cmake(choose(), libraries=f"{sys.prefix}/lib" if editable else "")
        package = ROOT / PACKAGE if editable else Path(self.build_lib, PACKAGE)
        for name in ("msg", "srv", "include"):
            shutil.rmtree(package / name, ignore_errors=True)
        for old in package.glob("*.so"):
            old.unlink()
        staged = STAGE / "python" / PACKAGE
        shutil.copytree(staged, package, dirs_exist_ok=True, ignore=_generators_rest)

    def get_source_files(self) -> list[str]:
        """Return nothing: MANIFEST.in names the sources."""
        return []

    def get_outputs(self) -> list[str]:
        """Return nothing: the files are laid out by run."""
        return []

    def get_output_mapping(self) -> dict[str, str]:
        """Return nothing: the files are laid out by run."""
        return {}


class InstallPrefix(Command):
    """Install into the prefix what ROS looks for there: libraries, the executable, share/."""

    user_options: ClassVar = [("install-dir=", "d", "the prefix")]

    def initialize_options(self) -> None:
        """Leave the prefix to the install command."""
        self.install_dir: str | None = None
        self.outfiles: list[str] = []

    def finalize_options(self) -> None:
        """Take the prefix from the install command."""
        self.set_undefined_options("install", ("install_data", "install_dir"))

    def run(self) -> None:
        """Copy all of the stage that is not the package."""
        assert self.install_dir is not None
        for source in sorted(STAGE.rglob("*")):
            relative = source.relative_to(STAGE)
            if source.is_file() and relative.parts[0] != "python":
                target = Path(self.install_dir) / relative
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)
                self.outfiles.append(str(target))

    def get_outputs(self) -> list[str]:
        """Return the files that run installed."""
        return self.outfiles


def run_cmake(ros: Ros, libraries: str) -> None:
    """Configure, build and install into STAGE; `libraries` is where those for the prefix will lie, if that is known."""
    prefixes = _prefixes(ros)
    ninja_path = shutil.which(os.path.join(ninja.BIN_DIR, "ninja"))
    if ninja_path is None:
        raise FileNotFoundError(
            "ninja is not on PATH though its wheel is installed: put the wheel's bin folder on PATH"
        )
    program = os.path.join(cmake.CMAKE_BIN_DIR, "cmake")
    options = [
        f"-DCMAKE_MAKE_PROGRAM={ninja_path}",
        f"-DCMAKE_PREFIX_PATH={';'.join(prefixes)}",
        f"-DCMAKE_INSTALL_PREFIX={STAGE}",
        "-DCMAKE_BUILD_TYPE=Release",
        f"-DPython3_EXECUTABLE={sys.executable}",
        "-DPYTHON_INSTALL_DIR=python",
        f"-DSIM_NODE_LIBRARIES={libraries}",
        f"-DSIM_NODE_ROS={int(ros.source != 'none')}",
    ]
    # A build tree remembers where it found everything, and build isolation moves all of it each time.
    key = "\n".join([program, *options, *ros.paths])
    mark = BUILD / "options.txt"
    if not mark.is_file() or mark.read_text() != key:
        shutil.rmtree(BUILD, ignore_errors=True)
    call = partial(_call, environ=_environ(ros, prefixes))
    call(program, "-S", str(ROOT), "-B", str(BUILD), "-G", "Ninja", *options)
    mark.write_text(key)
    call(program, "--build", str(BUILD))
    shutil.rmtree(STAGE, ignore_errors=True)
    # the Python sources are a component of their own, which setuptools installs
    call(program, "--install", str(BUILD), "--component", "Unspecified")


def _call(*command: str, environ: dict[str, str]) -> None:
    done = subprocess.run(command, env=environ)
    if done.returncode:
        # no traceback: what CMake or the compiler said stands above, and should stand last
        raise SystemExit(
            f"sim_node: the build ended with exit code {done.returncode}, see above; command: {shlex.join(command)}"
        )


def _prefixes(ros: Ros) -> list[str]:
    """Return the folders that hold ROS, the wheels' found by one of their modules."""
    if ros.source == "none":
        return []
    if ros.source == "system":
        return os.environ["AMENT_PREFIX_PATH"].split(os.pathsep)
    spec = find_spec("rosidl_cmake")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(
            f"the ROS wheels for the build are not installed; without build isolation install them first: "
            f"{' '.join(ros.build_requires)}"
        )
    return [str(Path(spec.origin).resolve().parents[4])]


def _environ(ros: Ros, prefixes: list[str]) -> dict[str, str]:
    environ = dict(os.environ)
    if prefixes:
        # rosidl finds its type supports by the ament index, which CMAKE_PREFIX_PATH does not lead to
        environ["AMENT_PREFIX_PATH"] = os.pathsep.join(prefixes)
    if ros.paths:
        # build isolation replaces the PYTHONPATH that the sourced installation had set
        kept = environ.get("PYTHONPATH", "").split(os.pathsep)
        environ["PYTHONPATH"] = os.pathsep.join(filter(None, dict.fromkeys([*kept, *ros.paths])))
    return environ


def _generators_rest(folder: str, names: list[str]) -> set[str]:
    """Return what the message generators install beside the modules: C sources, and an __init__.py in place of ours."""
    return {name for name in names if name.endswith(".c") or (name == "__init__.py" and Path(folder).name == PACKAGE)}
