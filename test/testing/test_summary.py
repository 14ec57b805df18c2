"""The page of a campaign, and JUnit's XML, from verdicts that the test makes."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from sim_node.kernels.quarter_car import QuarterCar
from sim_node.testing.campaign import Campaign, Case
from sim_node.testing.expectation import Finding
from sim_node.testing.options import Options
from sim_node.testing.summary import counts, write_junit, write_page
from sim_node.testing.verdict import Verdict


@pytest.fixture
def verdicts(tmp_path):
    def make(name, outcome, failure=""):
        case = Case(name, Options(plant=QuarterCar), 1.0, {}, [], [], "about <it>", ["R-1", "R-2"])
        found = [Finding("low", not failure, "body from 0 to 1 m")]
        page = tmp_path / "all" / name / "index.html"
        return Verdict(case, outcome, ["body gain 2 from tick 1"], found, failure, page, [("ticks", "5")], 0.25)

    return [make("good", "passed"), make("bad", "failed", "low: too high\nmore"), make("ugly", "error", "no bus")]


@pytest.fixture
def campaign(verdicts):
    return Campaign(Path("all.yaml"), tuple(each.case for each in verdicts))


def test_the_page(campaign, verdicts, tmp_path):
    page = write_page(campaign, verdicts, tmp_path / "all" / "index.html").read_text()
    assert "1 of 3 cases passed, 1 failed, 1 broke off" in page
    for text in (
        'href="good/index.html"',
        "about &lt;it&gt;",
        "body gain 2 from tick 1",
        "✗ low",
        "R-1, R-2",
        "no bus",
    ):
        assert text in page
    assert "http" not in page
    assert write_page(campaign, verdicts[:1], tmp_path / "p.html").read_text().count(">PASSED<") == 2


def test_the_xml(campaign, verdicts, tmp_path):
    suite = ElementTree.parse(write_junit(campaign, verdicts, tmp_path / "new" / "junit.xml")).getroot()[0]
    assert {key: suite.get(key) for key in ("name", "tests", "failures", "errors", "time")} == {
        "name": "all", "tests": "3", "failures": "1", "errors": "1", "time": "0.750",
    }  # fmt: skip
    good, bad, ugly = suite
    told = [(each.get("name"), each.get("value")) for each in good.find("properties")]
    assert told == [("requirement", "R-1"), ("requirement", "R-2"), ("ticks", "5")]
    assert good.find("failure") is None
    assert (bad.find("failure").get("message"), bad.find("failure").text) == ("low: too high", "low: too high\nmore")
    assert ugly.find("error").get("message") == "no bus"


def test_how_many(verdicts):
    assert counts(verdicts) == {"passed": 1, "failed": 1, "error": 1}
