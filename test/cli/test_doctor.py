"""``sim-node doctor``: every check speaks, failures count."""

import pytest

from sim_node.cli import checks
from sim_node.cli.checks import Check


def test_every_check_has_a_status_and_trouble_has_a_remedy(sim_node):
    said = sim_node("doctor", "--json").object["checks"]
    assert [check["id"] for check in said] == list(checks.CHECKS)
    for check in said:
        assert check["status"] in ("ok", "warn", "fail", "skip")
        assert check["detail"]
        assert check["remedy"] or check["status"] in ("ok", "skip")
    found = {check["id"]: check["status"] for check in said}
    assert [found[name] for name in ("python", "llvmlite", "native", "kernel", "shared_memory")] == ["ok"] * 5


@pytest.mark.parametrize(
    ("check", "code", "status"),
    [
        (lambda: Check(checks.FAIL, "broken", "mend it"), 1, "fail"),
        (lambda: Check(checks.WARN, "weak", "mend it"), 0, "warn"),
        (lambda: 1 // 0, 1, "fail"),
    ],
)
def test_only_a_failure_is_exit_code_1(sim_node, monkeypatch, check, code, status):
    monkeypatch.setattr(checks, "CHECKS", {"it": check})
    said = sim_node("doctor", "--json")
    assert (said.code, said.object["checks"][0]["status"]) == (code, status)
