"""``sim-node new``: a colcon package with a plant that runs."""

from __future__ import annotations

import keyword
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from sim_node.cli.output import Outcome, Table
from sim_node.cli.skeleton import BUILDS, COMMON, DEPENDS
from sim_node.errors import SimNodeError


def command(
    name: Annotated[str, typer.Argument(help="Name of the package: lower case, digits, underscores.")],
    folder: Annotated[Path, typer.Option("--dir", help="Where to make the package's folder.")] = Path(),
    build: Annotated[str, typer.Option(help="ament_python or ament_cmake.")] = "ament_python",
) -> Outcome:
    """Make a colcon package with a plant, config, launch file and a test that passes."""
    _check(name, build)
    root = folder / name
    try:
        root.mkdir(parents=True)
    except FileExistsError:
        raise SimNodeError(f"{root}: exists already; choose another name or --dir") from None
    kind = "".join(word.capitalize() for word in name.split("_"))
    words = {"name": name, "kind": kind, "build": build, "depends": DEPENDS[build]}
    files = {fill(path, words): fill(text, words) for path, text in {**COMMON, **BUILDS[build]}.items()}
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    plant = f"{name}.plant:{kind}"
    steps = [("test it", f"cd {root} && python -m pytest"), ("build it", f"colcon build --packages-select {name}")]
    steps.append(("run it", f"ros2 launch {name} {name}.launch.py"))
    result = {"package": name, "path": str(root), "plant": plant, "build": build, "files": sorted(files)}
    return Outcome(result, [Table(f"{root}: {len(files)} files", ("next", ""), steps)])


def fill(text: str, words: dict[str, str]) -> str:
    """Put words in for ``$word``; ``$$`` is a dollar, and other dollars stay."""
    return re.sub(r"\$(\$|[a-z]+)", lambda found: "$" if found[1] == "$" else words.get(found[1], found[0]), text)


def _check(name: str, build: str) -> None:
    if build not in BUILDS:
        raise SimNodeError(f"--build {build}: use {' or '.join(BUILDS)}")
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        near = re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()).strip("_0123456789")
        hint = f"; '{near}' is one" if near else ""
        raise SimNodeError(
            f"'{name}' is not the name of a ROS package: a lower-case letter, then letters, digits and single "
            f"underscores{hint}"
        )
    if keyword.iskeyword(name) or name in sys.stdlib_module_names or find_spec(name) is not None:
        raise SimNodeError(f"'{name}' is a word or an installed module of Python, which the package would hide")
