"""Cases run: passed, failed and broken off, each with a bag that verifies and a page."""

import sys

import pytest

from sim_node.kernels.quarter_car import QuarterCar
from sim_node.replay.verify import verify
from sim_node.testing.campaign import Case
from sim_node.testing.expectation import Expectation
from sim_node.testing.options import Options
from sim_node.testing.verdict import tried

LOW = Expectation("low", "body", -1.0, 1.0)
HIGH = Expectation("high", "body", 0.1)


@pytest.fixture
def case():
    def make(*expectations, faults=(), **options):
        given = {"parameters": {"speed": 20.0, "lead": 1.0}, "faults": ("body", "force"), **options}
        made = Options.of(QuarterCar, given)
        return Case("c", made, 0.2, {"force": 5.0}, faults, expectations, "about it", ["R-1"])

    return make


def test_a_case_that_passes(case, tmp_path):
    faults = [{"variable": "force", "gain": 3.0, "after": 0.1}]
    applied = Expectation("applied", "force.applied", 15.0, 15.0, after=0.1)
    found = tried(case(LOW, applied, faults=faults), "all", tmp_path)
    assert (found.outcome, found.failure, [each.passed for each in found.findings]) == ("passed", "", [True, True])
    assert found.faults == ["force gain 3 from tick 101"]
    told, page = dict(found.properties), found.page.read_text()
    assert (told["ticks"], told["verified"]) == ("200", "200")
    assert verify(told["bag"]).verified == 200
    assert all(text in page for text in ("PASSED", "R-1", "about it", "force gain 3", "set force"))


def test_a_case_that_fails(case, tmp_path):
    found = tried(case(LOW, HIGH), "all", tmp_path)
    assert (found.outcome, [each.passed for each in found.findings]) == ("failed", [True, False])
    assert found.failure.startswith("high: body = ")
    assert "FAILED" in found.page.read_text()
    assert dict(found.properties)["verified"] == "200"


def test_a_case_that_breaks_off(case, tmp_path):
    found = tried(case(LOW, controller=[sys.executable, "-c", "raise SystemExit('no bus')"]), "all", tmp_path)
    assert (found.outcome, found.findings, found.properties[0][0]) == ("error", [], "page")
    assert "no bus" in found.failure
    assert "ERROR" in found.page.read_text()


def test_the_same_case_has_the_same_bits(case, tmp_path):
    faults = [{"variable": "body", "noise": 0.1, "seed": 4}, {"variable": "force", "drop": 0.5}]
    first, second = (dict(tried(case(LOW, faults=faults), "all", tmp_path / name).properties) for name in "ab")
    assert first["state_hash"] == second["state_hash"]
