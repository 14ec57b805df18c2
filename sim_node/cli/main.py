"""The command ``sim-node``."""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from sim_node import __version__
from sim_node.cli.output import Outcome, show
from sim_node.errors import SimNodeError, placed
from sim_node.stop import end_at_the_first

# Each is a module beside this one with a function `command`, or a table of them, `commands`. They import what they need
# when they run, so that help is quick and no command needs the dependencies of another.
COMMANDS = (
    "demo", "run", "couple", "campaign", "build", "verify", "report", "record", "can", "inspect", "top", "doctor",
    "bench", "new",
)  # fmt: skip

CONTEXT = {"help_option_names": ["-h", "--help"]}
Json = Annotated[bool, typer.Option("--json", help="Print exactly one JSON object on stdout.")]


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


def make_app(outcomes: list[Outcome]) -> typer.Typer:
    """Put the commands together; each appends what it hands back."""
    app = typer.Typer(
        name="sim-node",
        callback=_options,
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
                group.command(part)(_listening(function, outcomes))
            app.add_typer(group, name=name)
        else:
            app.command(name)(_listening(module.command, outcomes))
    return app


def _listening(function: Callable[..., Outcome], outcomes: list[Outcome]) -> Callable[..., None]:
    """Give a command the option --json, which `run` acts upon, and keep what it hands back.

    A command that does another thing under --json has a parameter ``json``.
    """
    # not get_type_hints: until Python 3.11 it wraps what is None by default, and an Annotated inside goes unseen
    given = dict(inspect.signature(function, eval_str=True).parameters)
    asks = given.pop("json", None) is not None

    @functools.wraps(function)
    def command(*arguments: Any, json: bool, **options: Any) -> None:
        outcomes.append(function(*arguments, **options, **({"json": json} if asks else {})))

    parameters = [
        *given.values(),
        inspect.Parameter("json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json),
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def run(arguments: Sequence[str]) -> int:
    """Run one command; returns its exit code: 0 good, 1 the check failed, 2 unusable input, 130 interrupted."""
    as_json = "--json" in arguments
    outcomes: list[Outcome] = []
    # Under --json stdout is for the object alone: what a plant or a library prints goes to stderr.
    with contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext():
        try:
            make_app(outcomes)(list(arguments), standalone_mode=True)
        except SystemExit as ended:
            if ended.code and not outcomes:
                error, code = ("wrong usage: see stderr", 2) if ended.code == 2 else ("interrupted", 130)
                outcomes.append(Outcome({"error": error}, exit_code=code))
        except KeyboardInterrupt:
            outcomes.append(Outcome({}, error="interrupted", exit_code=130))
        except BrokenPipeError:
            raise
        except (SimNodeError, MemoryError, OSError) as fault:
            outcomes.append(Outcome({}, error=str(fault) or type(fault).__name__, exit_code=2))
        except Exception as fault:
            error = f"{placed(fault)}: this is a fault of sim-node or of a plant's code; please report the former"
            outcomes.append(Outcome({}, error=error, exit_code=2))
    return show(outcomes[0], as_json) if outcomes else 0


def main() -> None:
    """Run the command line of this process."""
    end_at_the_first()
    sys.path.append(os.getcwd())  # where users expect their plants to be found
    if "--json" in sys.argv:  # what child processes and C print goes the same way as what Python does
        sys.stdout = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)
    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:  # who reads our stdout has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    sys.exit(code)
