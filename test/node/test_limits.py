import pytest

pytest.importorskip("rclpy", reason="installed without ROS")

from diagnostic_msgs.msg import DiagnosticStatus

from sim_node.node.limits import LIMITS, judged
from sim_node.node.settings import SETTINGS, Settings

WARN, ERROR = DiagnosticStatus.WARN, DiagnosticStatus.ERROR


def settings(**given):
    return Settings.of({**{each.name: each.default for each in SETTINGS}, "plant": "quarter_car", **given})


def test_limits_of_zero_are_none():
    figures = dict.fromkeys((limit.name for limit in LIMITS), 0.0)
    assert list(judged(settings(misses_warn=0), figures)) == []


def test_misses_are_a_warning_unless_told_otherwise():
    assert list(judged(settings(), {"misses": 1})) == [(WARN, "misses 1 is at least warn limit 1")]


@pytest.mark.parametrize(("found", "level"), [(99.0, None), (100.0, WARN), (999.0, WARN), (1000.0, ERROR)])
def test_a_figure_has_the_worst_level_that_it_reaches(found, level):
    limits = {"lateness_warn_us": 100.0, "lateness_error_us": 1000.0}
    assert [told[0] for told in judged(settings(**limits), {"lateness": found})] == ([level] if level else [])


def test_a_real_time_factor_is_worse_below():
    limits = {"real_time_factor_warn": 0.99, "real_time_factor_error": 0.5}
    assert list(judged(settings(**limits), {"real_time_factor": 1.0})) == []
    ((level, text),) = judged(settings(**limits), {"real_time_factor": 0.4})
    assert (level, text) == (ERROR, "real_time_factor 0.4 is less than error limit 0.5")
