"""The index: requirements and tests with their results."""

from types import SimpleNamespace

from sim_node.testing.index import Index


def report(test, when, outcome="passed", properties=(), **more):
    return SimpleNamespace(
        nodeid=test,
        when=when,
        failed=outcome == "failed",
        skipped=outcome == "skipped",
        user_properties=properties,
        **more,
    )


def test_outcomes_and_requirements(tmp_path):
    page = tmp_path / "evidence" / "a" / "index.html"
    told = [
        ("requirement", "SYS-1"),
        ("requirement", "SYS-2"),
        ("page", str(page)),
        ("bag", "/x/bag.mcap"),
        ("bag_sha256", "ab"),
    ]
    index = Index()
    for each in (
        report("t::a", "setup", properties=told[:2]),
        report("t::a", "call", properties=told[:2]),
        report("t::a", "teardown", properties=told),
        report("t::b", "call", "failed", told[1:2]),
        report("t::c", "setup", "skipped", [("requirement", "SYS-3")]),
        report("t::d", "call", "skipped", [("requirement", "SYS-4")], wasxfail="known"),
        report("t::e", "call"),  # neither: it is left out
        report("t::f", "teardown", "failed", [("requirement", "SYS-5")]),
    ):
        index.take(each)
    assert {entry.test: entry.outcome for entry in index.entries} == {
        "t::a": "passed", "t::b": "failed", "t::c": "skipped", "t::d": "xfailed", "t::f": "error",
    }  # fmt: skip
    text = index.write(tmp_path / "evidence" / "index.html", "car").read_text()
    rows = {row.split("</td>")[0]: row for row in text.split("<tr><td>")[1:]}
    results = {"SYS-1": "MET", "SYS-2": "NOT MET", "SYS-3": "NOT SHOWN", "SYS-4": "NOT SHOWN", "SYS-5": "NOT MET"}
    for name, result in results.items():
        assert f">{result}<" in rows[name], name
    assert '<a href="a/index.html">t::a</a>' in rows["SYS-1"]
    assert "bag.mcap ab" in text


def test_a_test_that_is_run_again_counts_by_its_last_run():
    index, told = Index(), [("requirement", "SYS-1")]
    for outcome in ("failed", "passed"):
        index.take(report("t::a", "setup", properties=told))
        index.take(report("t::a", "call", outcome, told))
    assert index.entries[0].outcome == "passed"
