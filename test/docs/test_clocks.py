"""The page about clocks: each block runs, and its YAML is what the node takes."""

import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "clocks.md").read_text("utf-8")


def test_the_page(session):
    assert session("clocks.md") > 10


def test_its_parameters_are_the_nodes():
    pytest.importorskip("rclpy", reason="installed without ROS")
    from sim_node.node.settings import SETTINGS

    declared = {each.name: each for each in SETTINGS}
    blocks = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    assert blocks
    for block in blocks:
        for name, value in YAML(typ="safe").load(block)["/**"]["ros__parameters"].items():
            declared[name].convert(value)
