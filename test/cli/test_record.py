"""``sim-node record`` where there is no ROS; beside a node it is tested in test/node."""

import sys


def test_without_ros_the_reason_is_said_and_no_bag_is_made(sim_node, tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("sim_node.node")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rclpy", None)
    said = sim_node("record", "--bag", tmp_path / "bag", "--json")
    assert said.code == 2
    assert "no ROS here" in said.object["error"]
    assert not list(tmp_path.iterdir())
