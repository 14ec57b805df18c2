"""What a campaign's file says, and that each mistake in one is told with its place."""

import sys

import pytest

from sim_node.errors import PlantError
from sim_node.testing.campaign import Campaign

TEXT = """
plant: sim_node.kernels.quarter_car:QuarterCar
parameters: {speed: 20, lead: 1}
seconds: 0.2
set: {force: 1.0}
expect: {up: {field: body, min: -1, max: 5e-1}}
cases:
  plain: {requirements: [A-1, 2], about: nothing}
  late:
    parameters: {speed: 5.0}
    seed: 3
    seconds: 0.3
    controller: ["{python}", "{folder}/c.py", "{ring}", 0.5]
    faults:
      - {variable: body, delay: 0.012, element: 1}
      - {variable: force, drop: 0.5, after: 0.1, seed: 2}
    expect: {up: {field: body.true, max: 1}, end: {field: "force.applied[0]", min: 0, when: at_end}}
"""


@pytest.fixture
def describe(tmp_path):
    def make(*changes):
        path, text = tmp_path / "cases.yaml", TEXT
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path.write_text(text)
        return path

    return make


def test_what_it_says(describe, tmp_path):
    campaign = Campaign.read(describe())
    plain, late = campaign.cases
    assert (campaign.name, plain.name, plain.seconds, plain.requirements, plain.about) == (
        "cases", "plain", 0.2, ["A-1", "2"], "nothing",
    )  # fmt: skip
    assert plain.inputs == {"force": 1.0}
    assert plain.options.parameters == {"speed": 20, "lead": 1}
    assert late.options.parameters == {"speed": 5.0, "lead": 1}
    assert (late.options.seed, late.seconds) == (3, 0.3)
    assert late.options.controller == [sys.executable, f"{tmp_path}/c.py", "{ring}", "0.5"]
    assert plain.options.faults == late.options.faults == ("body:12", "force:0")
    assert [(each.name, each.field, each.high, each.when) for each in late.expectations] == [
        ("up", "body.true", 1.0, "always"),
        ("end", "force.applied[0]", float("inf"), "at_end"),
    ]
    assert [case.name for case in campaign.chosen(["late"]).cases] == ["late"]
    assert campaign.chosen(()).cases == campaign.cases
    with pytest.raises(PlantError, match=r"no case 'l'; there are plain, late"):
        campaign.chosen(["l"])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("seconds: 0.2", "secs: 0.2", "there is no 'secs' here; did you mean 'seconds'?"),
        ("plant: sim_node.kernels.quarter_car:QuarterCar", "", "plant: a reference stands here, as module:Class"),
        ("quarter_car:QuarterCar", "quarter_car:Car", "cases.plain: 'sim_node.kernels.quarter_car:Car': "),
        (
            "  plain: {req",
            "  pl ain: {req",
            "cases: the name of a case is 1 to 80 letters, digits and _ . -, not",
        ),
        ("requirements: [A-1, 2]", "requirements: A-1", "cases.plain.requirements: a list stands here, not 'A-1'"),
        ("about: nothing", "about: 5", "cases.plain.about: a text stands here, not 5"),
        ("seconds: 0.3", "seconds: 0", "cases.late.seconds: a case lasts for more than 0 and at most 1e+06 s"),
        ("seconds: 0.2", "rate: 0", "seconds' is missing"),
        ("seed: 3", "rate: 3", "cases.late: there is no 'rate' here"),
        ("speed: 5.0", "sped: 5.0", "cases.late: QuarterCar has no parameter 'sped'; did you mean 'speed'?"),
        ("speed: 20,", "speed: fast,", "cases.plain: QuarterCar: parameter 'speed' takes a number, not 'fast'"),
        ('["{python}", "{folder}/c.py", "{ring}", 0.5]', "c.py", "cases.late.controller: a command line as a list of"),
        ("{force: 1.0}", "{forc: 1.0}", "cases.plain: set: the plant has no input 'forc'"),
        ("min: -1, max: 5e-1", "after: 0.1", "expect.up: 'min' or 'max' says what is expected"),
        ("min: -1, max: 5e-1", "min: 1, max: 0", "expect.up: its limits, or its times, leave nothing between them"),
        ("min: 0, when: at_end", "min: 0, after: 0.3", "cases.late: expect.end: it begins after 0.3 s, when the case"),
        ("when: at_end", "when: end", "expect.end.when: one of always, once, at_end stands here, not 'end'"),
        ("field: body.true", "field: bod.true", "expect.up: no input, state or output 'bod.true'; did you mean 'body."),
        ("expect: {up: {field: body, min: -1, max: 5e-1}}", "", "cases.plain: nothing is expected of it; say what"),
        ("variable: force,", "variable: forc,", "faults[1].variable: the plant has no input, state or output 'forc'"),
        ("variable: force,", "", "cases.late.faults[1]: 'variable' is missing"),
        ("drop: 0.5", "drop: 2", "cases.late.faults[1]: fault of 'force': drop is a probability in 0 … 1, not 2"),
        ("variable: force, drop", "variable: distance, drop", "plant QuarterCar: 'distance' cannot have faults"),
    ],
)
def test_each_mistake_is_told(describe, old, new, said):
    with pytest.raises(PlantError) as told:
        Campaign.read(describe((old, new)))
    assert str(told.value).startswith(str(describe((old, new))))
    assert said in str(told.value)


def test_no_case(describe):
    path = describe()
    path.write_text(TEXT[: TEXT.index("cases:")])
    with pytest.raises(PlantError, match="no case is named; name some below 'cases'"):
        Campaign.read(path)
    path.write_text(
        f"{TEXT[: TEXT.index('seconds:')]}rate: 0\nseconds: 1\ncases: {{a: {{expect: {{b: {{field: x, min: 0}}}}}}}}"
    )
    with pytest.raises(PlantError, match=r"cases\.a: a rig's rate is 0\.001 to 1e6 ticks a second, not 0"):
        Campaign.read(path)
