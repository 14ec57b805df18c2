"""Look at rings, bags, plants and kernels, what errors mean, and where the C header is."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from sim_node.cli.arguments import assignments
from sim_node.cli.kernel import kernel
from sim_node.cli.output import Outcome, Table, progress
from sim_node.cli.rings import clean, rings
from sim_node.errors import SimNodeError


def bag(path: Annotated[Path, typer.Argument(metavar="BAG", help="A .mcap or .db3 file, or a bag folder.")]) -> Outcome:
    """Say what a bag holds: topics, plants, ticks, keyframes."""
    from sim_node.replay.contents import contents

    with progress("inspect") as update:
        found = contents(path, lambda done, total: update(done, total, ""))
    topics = Table(str(path), ("topic", "type", "messages"), [(t.topic, t.type, t.messages) for t in found.topics])
    columns = (
        "plant",
        "generation",
        "class",
        "ticks",
        "first",
        "last",
        "lost",
        "keyframes",
        "dt_ns",
        "substeps",
        "seed",
    )
    rows = [
        (r.topic, r.generation, r.plant, r.ticks, r.first, r.last, r.lost, r.keyframes, r.dt_ns, r.substeps, r.seed)
        for r in found.runs
    ]
    warnings = [text for text in (found.torn, found.damage) if text]
    return Outcome(asdict(found), [topics, Table("runs", columns, rows)], warnings=warnings)


def plant(
    reference: Annotated[str, typer.Argument(metavar="PLANT", help="module:Class, file.py:Class or a short name.")],
    param: Annotated[list[str] | None, typer.Option(help="name=value; repeatable.")] = None,
) -> Outcome:
    """Show what a plant declares, and how large it is with these parameters."""
    from sim_node.plant import reference as find
    from sim_node.plant import reference_of

    kind = find(reference)
    made = kind(**assignments(param or (), "--param"))
    declared = made.declarations
    parameters: list[dict[str, Any]] = [
        {"name": p.name, "value": made.parameters[p.name], "range": p.range, "unit": p.unit, "doc": p.doc}
        for p in declared.parameters.values()
    ]
    variables: list[dict[str, Any]] = []
    for role, group in (("input", declared.inputs), ("state", declared.states), ("output", declared.outputs)):
        for each in group.values():
            shape = list(made.counts(each))
            published = role == "output" or bool(getattr(each, "publish", False))
            about = {"name": each.name, "role": role, "dtype": repr(each.dtype), "shape": shape, "unit": each.unit}
            variables.append({**about, "published": published, "doc": each.doc})
    result = {
        "plant": reference_of(kind),
        "title": made.title,
        "parameters": parameters,
        "variables": variables,
        "state_bytes": made.state_layout.size,
        "ring_bytes": made.layout.size,
        "input_bytes": made.input_layout.size,
    }
    sizes = [(name, result[name]) for name in ("state_bytes", "ring_bytes", "input_bytes")]
    return Outcome(result, [_table(made.title, parameters), _table("", variables), Table("", ("", "bytes"), sizes)])


def error(
    code: Annotated[str | None, typer.Argument(metavar="[CODE]", help="As it stands in the message: SN201.")] = None,
) -> Outcome:
    """Say what the code of an error means, with wrong and right code; without a code, list them."""
    from sim_node.errors.mistakes import CATALOGUE

    if code is None:
        rows = [(each.code, each.title) for each in CATALOGUE.values()]
        listed = [{"code": name, "title": title} for name, title in rows]
        return Outcome({"errors": listed}, [Table("errors", ("code", "title"), rows)])
    found = CATALOGUE.get(code.strip("[]").upper())
    if found is None:
        raise SimNodeError(f"there is no error '{code}'; 'sim-node inspect error' lists them")
    page = found.page()
    return Outcome({"code": found.code, "title": found.title, "page": page}, text=page.rstrip())


def include_dir() -> Outcome:
    """Print the folder to give a C or C++ compiler with -I, for sim_node/ring.h, or CMake as CMAKE_PREFIX_PATH."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "include", package.parent / "include"):
        if (folder / "sim_node" / "ring.h").is_file():
            return Outcome({"include_dir": str(folder)}, text=str(folder))
    raise SimNodeError(f"{package / 'include'}: sim_node/ring.h is missing; install sim_node again")


def _table(title: str, rows: list[dict[str, Any]]) -> Table:
    columns = list(rows[0]) if rows else []
    return Table(title, columns, [[row[column] for column in columns] for row in rows])


commands = {
    "rings": rings,
    "clean": clean,
    "bag": bag,
    "plant": plant,
    "kernel": kernel,
    "error": error,
    "include-dir": include_dir,
}
