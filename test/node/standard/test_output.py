import gc
import tracemalloc

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="installed without ROS")

from sim_node.node.standard.geometry_msgs import PoseArray
from sim_node.node.standard.sensor_msgs import Cloud, JointState
from sim_node.node.standard.std_msgs import MultiArray
from sim_node.node.standard.visualization_msgs import MarkerArray

CASES = [
    (Cloud, {"x": ("vec3d", (20_000,))}, {"position": "x"}, {}),
    (JointState, {"x": ("f32", (20_000,))}, {"position": "x"}, {"names": tuple(map(str, range(20_000)))}),
    (PoseArray, {"x": ("vec3f", (20_000,))}, {"position": "x"}, {}),
    (MultiArray, {"x": ("vec3f", (20_000,))}, {"data": "x"}, {}),
    (MarkerArray, {"x": ("vec3f", (500,))}, {"position": "x"}, {}),
]
IDS = [case[0].__name__ for case in CASES]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_members_are_views_of_the_bytes(sent, case):
    form, fields, members, options = case
    output = sent(form, fields, members, **options).output
    assert all(np.shares_memory(view, output.template.memory) for view, _ in output._members)
    assert all(np.shares_memory(stamps, output.template.memory) for stamps in output._stamps)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_filling_makes_one_copy_and_nothing_for_each_element(sent, case):
    form, fields, members, options = case
    made = sent(form, fields, members, **options)
    values, size = made.values(), len(made.output.template.memory)
    made.output.fill(values, 0)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        kept = made.output.fill(values, 1)
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(kept) == size
    assert after - before < size + 2_000
    assert peak - before < size + 2_000


def test_a_later_tick_leaves_an_earlier_message_as_it_was(sent):
    made = sent(MultiArray, {"x": ("f64", (3,))}, {"data": "x"})
    first = made.output.fill({"x": np.array([1.0, 2.0, 3.0])}, 0)
    kept = bytes(bytearray(first))
    made.output.fill({"x": np.array([4.0, 5.0, 6.0])}, 0)
    assert first == kept
