"""A process that only subscribes loads neither ROS nor a compiler."""

import json
import subprocess
import sys

CODE = """
import json, sys, time
import numpy
start = time.perf_counter()
import sim_node.bridge
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "modules": sorted(sys.modules)}))
"""
UNWANTED = (
    "rclpy",
    "llvmlite",
    "sim_node.compiler",
    "sim_node.lang",
    "sim_node.plant",
    "sim_node.runtime",
    "sim_node.node",
)


def test_a_subscriber_loads_little():
    run = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    report = json.loads(run.stdout)
    print(f"import sim_node.bridge: {report['seconds'] * 1e3:.1f} ms after numpy")
    assert "sim_node.bridge.subscriber" in report["modules"]
    assert [name for name in report["modules"] if name.startswith(UNWANTED)] == []
