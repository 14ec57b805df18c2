"""``sim-node campaign``: tables, JSON, files and exit codes."""

import pytest

FILE = """
plant: sim_node.kernels.quarter_car:QuarterCar
seconds: 0.1
cases:
  stuck:
    faults: [{variable: body, stuck_at: 0.5, after: 0.05}]
    expect: {stuck: {field: body, min: 0.5, max: 0.5, after: 0.05}, real: {field: body.true, max: 0.1}}
  plain: {expect: {high: {field: body, min: 0.4}}}
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cases.yaml").write_text(FILE)
    return tmp_path / "cases.yaml"


def test_a_case_that_fails_is_exit_code_1(sim_node, file):
    said = sim_node("campaign", file, "--json", "--junit", "out/junit.xml")
    assert said.code == 1
    told = said.object
    assert (told["passed"], told["failed"], told["junit"]) == (1, 1, "out/junit.xml")
    assert told["report"] == "evidence/cases/index.html"
    stuck, plain = told["cases"]
    assert (stuck["outcome"], stuck["ticks"], stuck["verified"]) == ("passed", 100, 100)
    assert stuck["faults"] == ["body stuck_at 0.5 from tick 51"]
    assert (plain["outcome"], plain["findings"][0]["passed"]) == ("failed", False)
    for name in (told["report"], told["junit"], stuck["bag"], plain["page"]):
        assert (file.parent / name).is_file()
    assert sim_node("verify", stuck["bag"]).code == 0


def test_chosen_cases_that_pass(sim_node, file):
    said = sim_node("campaign", file, "--case", "stuck", "--evidence", "e", "--report", "r.html")
    assert (said.code, "cases: 1 of 1 passed; r.html" in said.out) == (0, True)
    assert 'href="e/stuck/index.html"' in (file.parent / "r.html").read_text()


def test_unusable_files(sim_node, file):
    assert sim_node("campaign", "none.yaml").code == 2
    assert sim_node("campaign", file, "--case", "none").code == 2
    (file.parent / "taken").write_text("")
    said = sim_node("campaign", file, "--case", "stuck", "--evidence", "taken")
    assert (said.code, "cannot be written" in said.err) == (2, True)
