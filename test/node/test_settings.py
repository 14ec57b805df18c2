import pytest

pytest.importorskip("rclpy", reason="installed without ROS")

from sim_node.node.parameters import ParameterError
from sim_node.node.settings import SETTINGS, Settings


def settings(**given):
    values = {each.name: each.default for each in SETTINGS}
    return Settings.of({**values, "plant": "quarter_car", **given})


def test_defaults_are_in_their_own_ranges():
    for each in SETTINGS:
        assert each.convert(each.default) == each.default
        assert each.doc.endswith(".")


def test_times_are_whole_nanoseconds():
    assert (settings(rate=1000.0).period_ns, settings(rate=1000.0).dt_ns) == (1_000_000, 1_000_000)
    assert (settings(rate=3.0).period_ns, settings(rate=3.0, dt=1e-9).dt_ns) == (333_333_333, 1)


@pytest.mark.parametrize(
    ("given", "told"), [({"plant": ""}, "'plant' is empty"), ({"dt": 1e-10}, "less than a nanosecond")]
)
def test_values_that_do_not_fit_together_are_refused(given, told):
    with pytest.raises(ParameterError, match=told):
        settings(**given)
