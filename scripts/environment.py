"""Make .venv and install the package in it, editable; do nothing when nothing changed.

The build's requirements go into .venv itself, without build isolation: they are installed once, most of them are needed
to run anyway, and a change of one C file compiles one C file.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from build_backend.ros import WHEELS, Ros, RosError, choose  # noqa: E402

VENV = ROOT / ".venv"
STAMP = VENV / "setup.json"
OLDEST = (3, 10)
EXTRAS = ["can", "test"]  # what the suite needs
# What the installed package is built from; Python files are used where they lie.
INPUTS = (
    *("pyproject.toml", "setup.py", "CMakeLists.txt", "package.xml", "build_backend/*.py", "sim_node/__init__.py"),
    *(
        "include/**/*.h",
        "src/*.[ch]",
        "msg/*.msg",
        "srv/*.srv",
        "launch/*",
        "config/*",
        "examples/ecu/*",
        "scripts/sim*node",
    ),
)


class SetupError(Exception):
    """The environment cannot be made; the message says what is missing and how to get it."""


class FailedError(SetupError):
    """A command failed; ``output`` is what it printed."""

    def __init__(self, message: str, output: str) -> None:
        super().__init__(message)
        self.output = output


@dataclass
class Stamp:
    """What .venv holds. `python` is empty until it is made, `digest` until an installation is complete."""

    root: str
    python: str
    ros: str
    extras: list[str]
    digest: str = ""


def main() -> int:
    """Make the environment and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bench", action="store_true", help="with the peers that the benches measure against")
    extras = [*EXTRAS, "bench"] if parser.parse_args().bench else EXTRAS
    try:
        held = read_stamp()
        if held and held.ros in WHEELS:
            os.environ.setdefault("ROS_DISTRO", held.ros)  # whoever chose one need not say it each time
        make(choose(), extras, held)
    except (SetupError, RosError) as error:
        print(f"make setup: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nmake setup: interrupted; run it again to go on", file=sys.stderr)
        return 130
    return 0


def make(ros: Ros, extras: list[str], held: Stamp | None) -> None:
    """Bring .venv to what is asked for."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    wanted = Stamp(str(ROOT), python, ros.name, sorted({*extras, *(held.extras if held else ())}))
    wanted.digest = digest(wanted)
    if held == wanted and any((ROOT / "sim_node").glob("_native*.so")):
        return
    check_tools(ros)
    if VENV.exists() and (reason := unusable(held, wanted)):
        print(f"make setup: {reason}; making .venv anew")
        shutil.rmtree(VENV)
    if not VENV.exists():
        site = ["--system-site-packages"] if ros.source == "system" else []
        # the base interpreter, since this one may be the .venv that was just removed
        base = getattr(sys, "_base_executable", sys.executable)
        VENV.mkdir()
        write_stamp(replace(wanted, python="", extras=[], digest=""))
        run(f"environment: Python {python}, ROS {ros.name}", [base, "-m", "venv", *site, str(VENV)])
        write_stamp(replace(wanted, extras=[], digest=""))
    install(ros, wanted)
    write_stamp(wanted)


def install(ros: Ros, wanted: Stamp) -> None:
    """Install the build's requirements, then the package. Raises SetupError, with advice where ROS has no wheel."""
    pip = [str(VENV / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    package = f".[{','.join(wanted.extras)}]"
    try:
        run("build requirements", [*pip, *build_requires(), *ros.build_requires])
        run("package and its requirements", [*pip, "--no-build-isolation", "--editable", package])
    except FailedError as failed:
        missing = re.search(r"No matching distribution found for (ros-\S+)", failed.output)
        if missing is None:
            raise
        raise SetupError(
            f"there is no wheel {missing[1]} of ROS {ros.name} for Python {wanted.python} on this machine: take "
            f"another Python (`make setup PYTHON=python3.12`), another distro (ROS_DISTRO={' or '.join(WHEELS)}), "
            "a sourced ROS 2, or none (SIM_NODE_ROS=0)"
        ) from None


def unusable(held: Stamp | None, wanted: Stamp) -> str | None:
    """Return why the .venv that is there cannot be used, or None. One environment holds one ROS distro."""
    if not os.access(VENV / "bin" / "python", os.X_OK):
        return "the Python of .venv is gone"
    if held is None:
        raise SetupError(
            ".venv was not made by `make setup`, so what it holds is unknown: move it away, or install into it by "
            "`pip install -e .[test]`"
        )
    if held.root != wanted.root:
        return f".venv was made for {held.root}"
    if not held.python:
        return "the making of .venv was interrupted"
    if held.python != wanted.python:
        return f".venv has Python {held.python}, asked for is {wanted.python}"
    if held.ros not in ("none", wanted.ros):
        return f".venv holds ROS {held.ros}, asked for is {wanted.ros}"
    # pip writes RECORD last, and takes for installed what has none
    halves = [info for info in VENV.glob("lib/python*/site-packages/*.dist-info") if not (info / "RECORD").is_file()]
    if halves:
        return f"the installation of {halves[0].stem} was interrupted"
    return None


def check_tools(ros: Ros) -> None:
    """Raise SetupError for a wrong place or Python, and for all that is missing at once, with Debian's names."""
    if not os.access(ROOT, os.W_OK):
        raise SetupError(f"{ROOT} is read-only to this user: .venv and the build lie in it, so clone it somewhere else")
    if sys.version_info < OLDEST:
        oldest, found = (".".join(map(str, version[:2])) for version in (OLDEST, sys.version_info))
        raise SetupError(
            f"Python {found} is too old, {oldest} or later is needed: name one, such as `make setup PYTHON=python3.12`"
        )
    compilers = [os.environ.get("CC", "cc")] + ([os.environ.get("CXX", "c++")] if ros.source != "none" else [])
    missing = {
        "gcc g++": [f"a compiler ({name})" for name in compilers if shutil.which(name.split()[0]) is None],
        "python3-dev": [] if Path(sysconfig.get_path("include"), "Python.h").is_file() else ["Python's C headers"],
        "python3-venv": [] if _has_ensurepip() else ["Python's venv module"],
    }
    what = [name for names in missing.values() for name in names]
    if what:
        packages = " ".join(package for package, names in missing.items() if names)
        raise SetupError(f"not found: {', '.join(what)}; on Debian and Ubuntu: apt-get install {packages}")


def _has_ensurepip() -> bool:
    try:
        import ensurepip  # noqa: F401
    except ImportError:
        return False
    return True


def digest(stamp: Stamp) -> str:
    """Return the SHA-256 of the build's inputs and of what is asked for."""
    total = hashlib.sha256(json.dumps([stamp.python, stamp.ros, stamp.extras]).encode())
    for path in inputs():
        total.update(f"\0{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return total.hexdigest()


def inputs() -> Iterator[Path]:
    """Yield the files that the installed package is built from."""
    for pattern in INPUTS:
        yield from (path for path in sorted(ROOT.glob(pattern)) if path.is_file())


def build_requires() -> list[str]:
    """Return the requirements in pyproject.toml's build-system table. (Python 3.10 has no reader of TOML.)"""
    text = (ROOT / "pyproject.toml").read_text()
    found = re.search(r"^requires = \[(.*?)\]", text, re.MULTILINE)
    assert found is not None
    return re.findall(r'"([^"]+)"', found[1])


def run(what: str, command: list[str]) -> None:
    """Run a command, with one line on the terminal; its own output only where it failed."""
    print(f"make setup: {what} … ", end="", flush=True)
    begun = time.monotonic()
    # the ROS wheels' start-up file marks the environment of this process; another interpreter must start afresh
    environ = {name: value for name, value in os.environ.items() if name != "_ROS_WHEELS_BOOTSTRAP_COMPLETE"}
    done = subprocess.run(command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(f"{time.monotonic() - begun:.0f} s" if done.returncode == 0 else "failed", flush=True)
    if done.returncode:
        print(done.stdout, file=sys.stderr)
        raise FailedError(f"{what}: exit code {done.returncode} of {' '.join(command)}", done.stdout)


def read_stamp() -> Stamp | None:
    """Return what .venv holds, or None where `make setup` did not make it."""
    if not STAMP.is_file():
        return None
    try:
        return Stamp(**json.loads(STAMP.read_text()))
    except (TypeError, ValueError):
        return Stamp(root="an unreadable setup.json", python="", ros="none", extras=[])


def write_stamp(stamp: Stamp) -> None:
    """Note what .venv holds."""
    STAMP.write_text(json.dumps(asdict(stamp)) + "\n")


if __name__ == "__main__":
    sys.exit(main())
