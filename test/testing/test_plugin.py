"""The plugin in pytest runs of their own."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from sim_node.replay.verify import verify

pytest_plugins = ["pytester"]

PLANT = '''
import sim_node as sn

GAIN = 1.0

@sn.kernel
def fall(x: sn.array(dtype=sn.float64), force: sn.array(dtype=sn.float64), gain: float, dt: float,
         x_next: sn.array(dtype=sn.float64)):
    x_next[0] = x[0] + force[0] * sn.float64(gain * dt)

class Cart(sn.Plant):
    """A cart that a force moves."""
    force = sn.input(sn.float64, unit="N")
    x = sn.state(sn.float64, unit="m", publish=True)

    def build(self, plan, dt):
        plan.launch(fall, dim=1, inputs=[self.x, self.force, GAIN, dt], outputs=[self.x.next])
'''

TESTS = '''
import cart
import pytest

pytestmark = [pytest.mark.rig(cart.Cart, rate=100.0), pytest.mark.requirement("SYS-1")]

@pytest.mark.requirement("SYS-2", "SYS-1")
@pytest.mark.rig(substeps=2, realtime=False)
def test_moves(rig):
    """It moves."""
    assert (rig.options.rate, rig.options.substeps, rig.options.realtime) == (100.0, 2, False)
    rig.set("force", 2.0)
    assert rig.until(lambda t: t["x"] > 1.0, timeout=3.0) == pytest.approx(0.51)
    seconds, x = rig.history("x")
    assert x.shape == seconds.shape == (51,)

def test_stays(rig):
    rig.until(lambda t: t["x"] > 1.0, timeout=0.1)

def test_changes_behind_the_bag(monkeypatch, rig):
    rig.set("force", 2.0)
    rig.run(0.1)
    monkeypatch.setattr(cart, "GAIN", 2.0)  # the plan of who replays it is another one

def test_two(make_rig):
    for force in (1.0, 2.0):
        rig = make_rig("cart:Cart", rate=100.0)
        rig.set("force", force)
        rig.run(0.1)

@pytest.mark.skip
def test_left_out(rig):
    pass

@pytest.mark.requirement("SYS-3")
def test_without():
    pass

@pytest.mark.rig(rat=3.0)
def test_misspelt(rig):
    pass
'''


@pytest.fixture
def tests(pytester, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(cart=PLANT, test_cart=TESTS)
    pytester.makeini("[pytest]\npythonpath = .\naddopts = --strict-markers -p sim_node.testing.plugin")
    return pytester


def test_a_session_leaves_its_evidence(tests, monkeypatch):
    done = tests.runpytest_subprocess("--junitxml=junit.xml", "--evidence=made", "--rig-realtime")
    done.assert_outcomes(passed=4, failed=1, errors=2, skipped=1)
    done.stdout.fnmatch_lines_random(
        [
            '*AssertionError: lambda t: t?"x"? > 1.0 did not hold within 0.1 s of simulated time',
            "*bag.mcap does not replay: tick 1 differs in 'x' (10 of 10 ticks diverged)",
            "*a rig has no option 'rat'; did you mean 'rate'?*",
            f"evidence: {tests.path / 'made' / 'index.html'}",
        ]
    )
    cases = {each.get("name"): each for each in ElementTree.parse(tests.path / "junit.xml").iter("testcase")}
    told = {name: [(p.get("name"), p.get("value")) for p in case.iter("property")] for name, case in cases.items()}
    assert [value for name, value in told["test_moves"] if name == "requirement"] == ["SYS-2", "SYS-1"]
    assert told["test_without"] == [("requirement", "SYS-3"), ("requirement", "SYS-1")]
    bags = [Path(value) for name, value in told["test_two"] if name == "bag"]
    assert [bag.name for bag in bags] == ["bag.mcap", "bag_2.mcap"]
    monkeypatch.syspath_prepend(tests.path)
    assert [verify(bag).verified for bag in bags] == [10, 10]
    text = Path(dict(told["test_stays"])["page"]).read_text()
    for words in ("FAILED", "did not hold within", "real time, factor", "lateness"):
        assert words in text
    assert "real time" not in Path(dict(told["test_moves"])["page"]).read_text()
    index = (tests.path / "made" / "index.html").read_text()
    for name in cases:
        assert f"test_cart.py::{name}" in index
    assert not (tests.path / "evidence").exists()


def test_workers_of_xdist_leave_one_index(pytester, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    marked = (f"@pytest.mark.requirement('SYS-{n}')\ndef test_{n}(): assert {n} != 2" for n in range(3))
    pytester.makepyfile("\n".join(["import pytest", *marked]))
    done = pytester.runpytest_subprocess("-p", "sim_node.testing.plugin", "-p", "xdist", "-n2")
    done.assert_outcomes(passed=2, failed=1)
    index = (pytester.path / "evidence" / "index.html").read_text()
    for name, result in (("SYS-0", "MET"), ("SYS-1", "MET"), ("SYS-2", "NOT MET")):
        assert f'<tr><td>{name}</td><td><span class="badge {"bad" if "NOT" in result else "good"}">{result}<' in index


def test_a_session_without_requirements_and_rigs_leaves_nothing(pytester, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile("import sys\ndef test_it():\n    assert 'sim_node.plant' not in sys.modules")
    pytester.runpytest_subprocess("-p", "sim_node.testing.plugin").assert_outcomes(passed=1)
    assert not (pytester.path / "evidence").exists()
