"""``sim-node build``: compile ahead of the first run."""

from __future__ import annotations

import time
import warnings
from typing import Annotated

import typer

from sim_node.cli.arguments import assignments
from sim_node.cli.output import Outcome, Table, progress
from sim_node.errors import StabilityWarning


def command(
    plants: Annotated[
        list[str] | None,
        typer.Argument(metavar="[CONFIG|PLANT]...", help="A node's YAML file, or a plant; default: the package's own."),
    ] = None,
    param: Annotated[list[str] | None, typer.Option(help="name=value for every plant; repeatable.")] = None,
) -> Outcome:
    """Compile the kernels of plants into the cache, so that their first start compiles nothing."""
    from sim_node.cli.plants import plants_of
    from sim_node.compiler.backend.target import HOST
    from sim_node.compiler.build import objects
    from sim_node.plant import Stepper, reference
    from sim_node.plant.reference import BUILT_IN

    given = assignments(param or (), "--param")
    chosen = [found for text in plants or BUILT_IN for found in plants_of(text)]
    cache, began = objects(), time.perf_counter()
    compiled, loaded = cache.compiled, cache.loaded
    found: list[str] = []
    with progress("build") as update, warnings.catch_warnings():
        warnings.simplefilter("ignore", StabilityWarning)
        for number, (text, parameters) in enumerate(chosen):
            update(number, len(chosen), text)
            # Which kernels a plant launches is known when its plan is built, as the stepper does.
            stepper = Stepper(reference(text)(**{**parameters, **given}), dt_ns=1_000_000)
            found += [f"{text} at a tick of 1 ms: {warning}" for warning in stepper.warnings]
    compiled, loaded = cache.compiled - compiled, cache.loaded - loaded
    result = {
        "kernels": compiled + loaded,
        "compiled": compiled,
        "cached": loaded,
        "seconds": time.perf_counter() - began,
        "cache": str(cache.path),
        "targets": [HOST.name],
    }
    return Outcome(result, [Table("build", ("", "value"), list(result.items()))], warnings=found)
