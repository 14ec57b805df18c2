"""The rules of ARCHITECTURE.md that a reader of the tree can rely on, proved from the source text of every module."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "sim_node"
GENERATED = ("msg", "srv", "include", "local")

# layer → the layers it may import; files at the top of the package are layers of their own
ALLOWED = {
    "__init__": {"lang"},  # for type checkers only; test_init.py proves that importing the package loads none of it
    "errors": set(),
    "dtypes": {"errors"},
    "layout": {"errors", "dtypes"},
    "part": {"layout"},
    "section": {"errors"},
    "stop": set(),
    "types": {"lang"},
    "lang": {"errors", "dtypes"},
    "compiler": {"lang", "types"},
    "device": {"errors", "_native"},
    "runtime": {"compiler", "device", "_native"},
    "plant": {"runtime", "layout", "_native"},
    "kernels": {"plant"},
    "bridge": {"layout", "device", "_native"},
    "replay": {"plant", "stop"},
    "wires": {"bridge", "part", "section"},
    "node": {"plant", "bridge", "replay", "part", "stop", "msg", "srv"},
    "testing": {"node", "section"},
    "cli": {"testing", "wires", "kernels", "stop", "_native", "msg", "srv"},
}
# layers that import what they need when they run: a command's help, and pytest's start, load none of the rest
LAZY = ("testing", "cli")
FORBIDDEN = ("manager", "handler", "helper", "util", "utils", "data", "context", "frame")
MAX_FILE, MAX_FUNCTION = 400, 80
# third-party module → the folders that may import it
HOMES = {
    "llvmlite": ["compiler/backend"],
    "rclpy": ["node"],
    "rosbags": ["replay"],
    "mcap": ["replay"],
    "can": ["wires", "node"],
    "cantools": ["wires"],
    "typer": ["cli"],
    "rich": ["cli"],
    "plotly": ["replay"],
    "pytest": ["testing"],
}
# module without a test file of its own → why
TESTED_ELSEWHERE = {
    "compiler/backend/rows": "a table; test_emit.py compiles and runs every row",
    "compiler/ir/function": "the IR's values; the parser's and the verifier's tests make and compare them",
    "compiler/ir/op": "a table; every test of the IR reads it",
    "compiler/ir/printer": "test_parser.py: what is printed reads back the same",
    **{
        f"compiler/python/{name}": "test_build.py runs every sample of the language on both devices, test_code.py more"
        for name in ("arrays", "block", "callables", "operations", "rewrite", "settle", "stop")
    },
    "lang/values/__init__": "test_vector.py makes values of every type",
    "lang/values/numbers": "test_vector.py passes every kind of number, and what is none",
    "lang/values/value": "test_vector.py computes with, copies and shows values",
    **{
        f"cli/benches/{name}": "test_bridge_peers.py runs it as a process"
        for name in ("iceoryx2_peer", "rclpy_peer", "shared_memory_peer")
    },
    **{f"cli/benches/{name}": "test_bridge_ring.py runs it as a process" for name in ("bridge_crowd", "bridge_reader")},
    "cli/benches/bridge_gpu_reader": "test_bridge_gpu.py runs it as a process",
    "cli/benches/compiling": "cli/benches/test_compile.py: a process of the bench",
    "cli/rig/session": "test_demo.py runs whole sessions",
    "compiler/ir/rules": "test_verifier.py breaks each rule",
    **{
        f"lang/library/{name}": "test_math.py runs every function of the math library on the same inputs"
        for name in ("exponential", "logarithm", "trigonometry", "hyperbolic", "inverse", "root", "error_function")
    },
    **{
        f"lang/library/double/{name}": "double/test_f64.py runs every function of f64 on the same inputs"
        for name in (
            *("error_function", "exponential", "hyperbolic", "inverse", "logarithm", "power", "root"),
            *("trigonometry", "turn"),
        )
    },
    "lang/library/keys": "runtime/test_fixed_order.py sorts keys of every type",
    "lang/library/parts": "runtime/test_fixed_order.py launches each kernel",
    "node/assembly": "ros/test_lifecycle.py builds and releases it in real nodes, ros/test_services.py rebuilds it",
    "node/clock": "ros/test_services.py pauses and steps each clock in a real node, ros/test_clock.py answers one",
    "node/connection": "ros/test_connection.py connects to real nodes",
    "node/faults": "ros/test_faults.py schedules them in a real node",
    "node/diagnostics": "ros/test_topics.py reads what a real node publishes",
    "node/inputs": "ros/test_topics.py sends to a real node",
    "node/main": "ros/test_process.py runs it as a process",
    "node/node": "ros/test_lifecycle.py makes its transitions through the middleware",
    "node/outputs": "ros/test_outputs.py listens to a real node",
    "node/process": "ros/test_process.py ends it by signals; every test of ros/ is inside one",
    "node/publication": "ros/test_publication.py counts what goes out, of a real node too",
    "node/remote": "cli/test_top.py pauses, steps and resets a real node by it",
    "node/services": "ros/test_services.py calls them through the middleware",
    "node/simulated_time": "ros/test_simulated_time.py has nodes that live in it",
    "node/stats": "ros/test_stats.py listens to a real node",
    "node/topic": "ros/test_topic.py reads what real nodes leave in a trace, ros/test_topics.py listens to one",
    "node/topics": "ros/test_topics.py listens to a real node",
    "node/watchdog": "ros/test_watchdog.py lets plans of real nodes hang",
    "wires/member": "wires/test_conductor.py couples plants by it",
}


@dataclass(frozen=True)
class Import:
    """One imported name: by which module, which one, on which line, and when: at import, at call, or for typing."""

    by: str
    name: str
    line: int
    when: str

    @property
    def where(self) -> str:
        return f"sim_node/{self.by}.py:{self.line} imports {self.name}"


def modules() -> list[Path]:
    """Return every module of the package that is not generated."""
    return sorted(path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] not in GENERATED)


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


def key(path: Path) -> str:
    """Return the module's path in the package: compiler/ir/op, bridge/__init__."""
    return path.relative_to(PACKAGE).with_suffix("").as_posix()


def layer(module: str) -> str:
    return module.split("/")[0]


def closed(layers: set[str]) -> set[str]:
    """Return the layers and all that they may import: down the table is down however far."""
    reached = set(layers)
    for name in layers:
        reached |= closed(ALLOWED.get(name, set()))
    return reached


def imports(path: Path) -> Iterator[Import]:
    """Yield what a module imports, absolute, with `from x import y` as x.y: y may be a module."""

    def visit(node: ast.AST, when: str) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                yield from (Import(key(path), alias.name, child.lineno, when) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                base = child.module or ""
                if child.level:
                    parts = ["sim_node", *path.relative_to(PACKAGE).parts][: -child.level]
                    base = ".".join([*parts, *filter(None, [base])])
                yield from (Import(key(path), f"{base}.{alias.name}", child.lineno, when) for alias in child.names)
            elif isinstance(child, ast.Call) and ast.unparse(child.func).endswith("import_module"):
                if isinstance(name := child.args[0], ast.Constant):
                    yield Import(key(path), str(name.value), child.lineno, when)
            elif isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
                yield from visit(child, "typing")
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                yield from visit(child, "call")
            else:
                yield from visit(child, when)

    yield from visit(tree(path), "import")


def first_party(found: Import) -> str | None:
    """Return the imported module's path in the package, or None for one of others."""
    top, *rest = found.name.split(".")
    if top != "sim_node":
        return None
    for length in range(len(rest), 0, -1):
        path = "/".join(rest[:length])
        if (PACKAGE / f"{path}.py").is_file():
            return path
        if (PACKAGE / path / "__init__.py").is_file() and rest[0] not in GENERATED:
            return f"{path}/__init__"
    return rest[0] if rest and rest[0] in ("_native", *GENERATED) else "__init__"


ALL = [found for path in modules() for found in imports(path)]


def test_the_package_is_read() -> None:
    assert {layer(key(path)) for path in modules()} <= set(ALLOWED), "a folder that the table of layers does not name"
    assert any(first_party(found) for found in ALL)


def test_every_folder_is_a_package() -> None:
    """One without __init__.py is imported from the tree all the same, and missing from a wheel."""
    missing = {path.parent for path in modules() if not (path.parent / "__init__.py").is_file()}
    assert not missing, f"without __init__.py: {', '.join(map(str, sorted(missing)))}"


def test_imports_point_down() -> None:
    wrong = [
        found.where
        for found in ALL
        if (target := first_party(found)) is not None
        and layer(target) != layer(found.by)
        # the package's own __init__ has no layer: whoever imports it loads nothing but the version
        and layer(target) not in closed(ALLOWED[layer(found.by)]) | {"__init__"}
    ]
    assert not wrong, "\n".join(wrong)


def test_first_party_imports_are_at_the_top() -> None:
    called = [found for found in ALL if found.when == "call" and first_party(found)]
    wrong = [found.where for found in called if layer(found.by) not in LAZY]
    assert not wrong, "\n".join(wrong)


def test_no_cycles() -> None:
    graph: dict[str, set[str]] = {key(path): set() for path in modules()}
    for found in ALL:
        target = first_party(found)
        if found.when == "import" and target in graph and target != found.by:
            graph[found.by].add(target)
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


@pytest.mark.parametrize("name", HOMES)
def test_third_party_homes(name: str) -> None:
    wrong = [
        found.where
        for found in ALL
        if found.name.split(".")[0] == name
        and not any(found.by.startswith(f"{home}/") for home in HOMES[name])
        and not (layer(found.by) == "cli" and found.when == "call")
    ]
    assert not wrong, "\n".join(wrong)


def test_bridge_loads_numpy_only() -> None:
    """A subscriber's process starts fast: what it does not need is not imported at its start."""
    below = [path for path in modules() if layer(key(path)) in closed({"bridge"})]
    wrong = [
        found.where
        for path in below
        for found in imports(path)
        if found.when == "import"
        and (top := found.name.split(".")[0]) not in sys.stdlib_module_names
        and top not in ("numpy", "sim_node", "__future__")
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", modules(), ids=key)
def test_sizes(path: Path) -> None:
    lines = len(path.read_text().splitlines())
    assert lines <= MAX_FILE, f"{path.name} has {lines} lines, at most {MAX_FILE}: which second noun is in it?"
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= MAX_FUNCTION, f"{path.name}:{node.lineno} {node.name} has {length} lines"


@pytest.mark.parametrize("path", modules(), ids=key)
def test_words(path: Path) -> None:
    """Names of modules, classes and functions, split at underscores and capitals, hold no forbidden word."""
    names = [path.stem] + [
        node.name
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    wrong = [name for name in names if set(words(name)) & set(FORBIDDEN)]
    assert not wrong, f"{path.name}: {', '.join(wrong)}"


def words(name: str) -> list[str]:
    split = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    return split.split("_")


def test_words_are_split() -> None:
    assert "manager" in words("_RingManager")
    assert "data" in words("field_data")
    assert "data" not in words("update")


def test_every_module_has_its_test() -> None:
    """A module with code of its own has test/<same path>/test_<same name>.py, or a reason in the table."""
    expected = {
        key(path)
        for path in modules()
        if any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in tree(path).body)
    }
    missing = sorted(module for module in expected if not _test_of(module).is_file() and module not in TESTED_ELSEWHERE)
    assert not missing, f"without a test file: {', '.join(missing)}"
    stale = sorted(module for module in TESTED_ELSEWHERE if module not in expected or _test_of(module).is_file())
    assert not stale, f"in the table for no reason: {', '.join(stale)}"


def _test_of(module: str) -> Path:
    folder, _, name = module.rpartition("/")
    return ROOT / "test" / folder / f"test_{name.strip('_')}.py"
