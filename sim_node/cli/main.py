"""The command ``sim-node``."""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from sim_node import __version__
from sim_node.cli.output import Outcome, show
from sim_node.errors import SimNodeError

# Each is a module beside this one with a function `command`, or a table of them, `commands`. They import what they need
# when they run, so that help is quick and no command needs the dependencies of another.
COMMANDS = ("demo", "run", "build", "verify", "record", "inspect", "doctor", "bench", "new")

CONTEXT = {"help_option_names": ["-h", "--help"]}
Json = Annotated[bool, typer.Option("--json", help="Print exactly one JSON object on stdout.")]

_outcomes: list[Outcome] = []


def _version(wanted: bool) -> None:
    if wanted:
        print(f"sim-node {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Plants written in Python, stepped at kHz inside ROS 2, replayed bit for bit."""


def make_app() -> typer.Typer:
    """Put the commands together."""
    app = typer.Typer(
        name="sim-node",
        callback=_options,
        result_callback=_outcomes.append,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings=CONTEXT,
    )
    for name in COMMANDS:
        module = importlib.import_module(f"sim_node.cli.{name}")
        if hasattr(module, "commands"):
            group = typer.Typer(no_args_is_help=True, help=module.__doc__, context_settings=CONTEXT)
            for part, function in module.commands.items():
                group.command(part)(_with_json(function))
            app.add_typer(group, name=name)
        else:
            app.command(name)(_with_json(module.command))
    return app


def _with_json(function: Callable[..., Outcome]) -> Callable[..., Outcome]:
    """Give a command the option --json, which `run` acts upon."""

    @functools.wraps(function)
    def command(*arguments: Any, json: bool, **options: Any) -> Outcome:
        del json
        return function(*arguments, **options)

    signature = inspect.signature(function)
    option = inspect.Parameter("json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json)
    command.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), option]
    )
    command.__annotations__ = {**function.__annotations__, "json": Json}
    return command


def run(arguments: Sequence[str]) -> int:
    """Run one command; returns its exit code: 0 good, 1 the check failed, 2 unusable input, 130 interrupted."""
    as_json = "--json" in arguments
    _outcomes.clear()
    outcome: Outcome | None = None
    # Under --json stdout is for the object alone: what a plant or a library prints goes to stderr.
    with contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext():
        try:
            make_app()(list(arguments), standalone_mode=True)
        except SystemExit as ended:
            if ended.code and not _outcomes:
                outcome = Outcome({"error": "wrong usage; see stderr"}, exit_code=int(ended.code))
        except KeyboardInterrupt:
            outcome = Outcome({}, error="interrupted", exit_code=130)
        except (SimNodeError, MemoryError, OSError) as fault:
            outcome = Outcome({}, error=str(fault) or type(fault).__name__, exit_code=2)
    outcome = outcome or (_outcomes[0] if _outcomes else None)
    return 0 if outcome is None else show(outcome, as_json)


def main() -> None:
    """Run the command line of this process."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.path.append(os.getcwd())  # where users expect their plants to be found
    sys.exit(run(sys.argv[1:]))
