"""``sim-node build``: compile ahead of the first run."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from sim_node.cli.arguments import assignments
from sim_node.cli.output import Outcome, Table
from sim_node.errors import SimNodeError


def command(
    plants: Annotated[
        list[str], typer.Argument(metavar="CONFIG|PLANT...", help="A node's YAML file, or module:Class.")
    ],
    param: Annotated[list[str] | None, typer.Option(help="name=value for every plant; repeatable.")] = None,
) -> Outcome:
    """Compile the kernels of plants into the cache, so that their first start compiles nothing."""
    from sim_node.cli.plants import kernels_of, plants_of
    from sim_node.compiler.backend.target import HOST
    from sim_node.compiler.build import build_all
    from sim_node.compiler.cache import folder

    given = assignments(param or (), "--param")
    kernels: dict[int, Any] = {}
    for text in plants:
        for reference, parameters in plants_of(text):
            for kernel in kernels_of(reference, {**parameters, **given}):
                kernels[id(kernel)] = kernel
    if not kernels:
        raise SimNodeError(f"{', '.join(plants)}: no kernels to compile")
    done = build_all(kernels.values())
    result = {
        "kernels": done.kernels,
        "compiled": done.compiled,
        "cached": done.cached,
        "seconds": done.seconds,
        "cache": str(folder()),
        "targets": [HOST.name],
    }
    return Outcome(result, [Table("build", ("", "value"), list(result.items()))])
