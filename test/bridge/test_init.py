"""The names of the bridge, those included that are loaded when they are asked for."""

import pytest

import sim_node.bridge


def test_its_names_are_there():
    pytest.importorskip("rclpy", reason="installed without ROS")
    assert all(hasattr(sim_node.bridge, name) for name in sim_node.bridge.__all__)
    assert sim_node.bridge.connect.__module__ == "sim_node.node.connection"


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"module 'sim_node\.bridge' has no attribute 'conect'"):
        _ = sim_node.bridge.conect
