"""The pytest plugin: the fixtures ``rig`` and ``make_rig``, the markers ``rig`` and ``requirement``, and the evidence.

pytest loads it wherever the package is installed, so it imports nothing of ours before a test asks for it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from sim_node.testing.evidence import Evidence
    from sim_node.testing.rig import Rig

MARKERS = (
    "rig(plant, **options): the plant of this test's rig, and how it runs (sim_node, docs/testing.md)",
    "requirement(id, ...): the ids of the requirements that this test is there for",
)

_called = pytest.StashKey["pytest.TestReport"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let users say where evidence goes, and that rigs run in real time."""
    group = parser.getgroup("sim_node", "plants under test (sim_node)")
    group.addoption("--evidence", metavar="DIR", help="where rigs leave bags and pages (ini: evidence)")
    group.addoption("--rig-realtime", action="store_true", help="rigs that do not say otherwise run in real time")
    parser.addini("evidence", "where rigs leave bags and pages, relative to the root", default="evidence")


def pytest_configure(config: pytest.Config) -> None:
    """Name the markers."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have each test's report, and so its JUnit entry, name its requirements."""
    for item in items:
        item.user_properties += [("requirement", name) for name in _requirements(item)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep the outcome of the test itself for its page."""
    report = yield
    if report.when == "call":
        item.stash[_called] = report
    return report


@pytest.fixture
def make_rig(request: pytest.FixtureRequest) -> Iterator[Callable[..., Rig]]:
    """Make a rig: ``make_rig(plant, **options)``, as often as the test likes; it ends with the test."""
    from sim_node.testing.evidence import Evidence, folder_of
    from sim_node.testing.options import Options
    from sim_node.testing.rig import Rig

    item: Any = request.node
    about = inspect.cleandoc(request.function.__doc__ or "")
    evidence = Evidence(item.nodeid, folder_of(_root(request.config), item.nodeid), _requirements(item), about)
    with ExitStack() as made:

        def make(plant: Any, **options: Any) -> Rig:
            given = {"realtime": bool(request.config.getoption("rig_realtime")), **options}
            rig = Rig(Options.of(plant, given), evidence.next_bag())
            made.enter_context(rig)
            evidence.rigs.append(rig)
            return rig

        yield make
    _conclude(item, evidence)


@pytest.fixture
def rig(request: pytest.FixtureRequest, make_rig: Callable[..., Rig]) -> Rig:
    """A plant under test, as the marker ``@pytest.mark.rig(plant, **options)`` says; nearer markers add to others."""
    plant, options = None, {}
    for marker in reversed(list(request.node.iter_markers("rig"))):
        plant = marker.args[0] if marker.args else plant
        options.update(marker.kwargs)
    return make_rig(plant, **options)


def _conclude(item: pytest.Item, evidence: Evidence) -> None:
    """Verify and write; a bag that does not replay fails the test."""
    if not evidence.rigs:
        return
    wrong = evidence.conclude()
    called = item.stash.get(_called, None)
    item.user_properties += evidence.properties()
    outcome = "failed" if wrong else called.outcome if called is not None else "error"
    text = [wrong, called.longreprtext if called is not None and called.failed else ""]
    evidence.write(outcome, "\n\n".join(part for part in text if part))
    if wrong:
        pytest.fail(wrong, pytrace=False)


def _requirements(item: pytest.Item) -> list[str]:
    found = [str(name) for marker in item.iter_markers("requirement") for name in marker.args]
    return list(dict.fromkeys(found))


def _root(config: pytest.Config) -> Path:
    given = config.getoption("evidence")
    return Path(given).absolute() if given else config.rootpath / str(config.getini("evidence"))


# ---- the session ----


def pytest_sessionstart(session: pytest.Session) -> None:
    """Collect in the process that outlives the workers of xdist."""
    if not hasattr(session.config, "workerinput"):
        session.config.pluginmanager.register(_Collector(session.config), "sim_node evidence")


class _Collector:
    """Takes the reports of all workers, and writes the index when the last is there."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._reports: list[pytest.TestReport] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._reports.append(report)

    def pytest_sessionfinish(self) -> None:
        names = {name for report in self._reports for name, _ in report.user_properties}
        if not names & {"requirement", "page"}:
            return
        from sim_node.testing.index import Index

        index = Index()
        for report in self._reports:
            index.take(report)
        self._written = index.write(_root(self._config) / "index.html", self._config.rootpath.name)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if written := getattr(self, "_written", None):
            terminalreporter.write_line(f"evidence: {written}")
