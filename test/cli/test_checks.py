"""What the checks say where something is missing."""

import importlib.util
import resource

import pytest

from sim_node.cli import checks


def test_a_cache_that_cannot_be_written_is_a_warning(monkeypatch):
    monkeypatch.setenv("SIM_NODE_CACHE", "/proc/nowhere")
    assert checks.CHECKS["cache"]().status == "warn"


def test_a_missing_compiler_is_a_warning(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    assert checks.CHECKS["c_compiler"]().status == "warn"


def test_a_machine_without_ros_skips_what_is_of_ros(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "rclpy" else find(name, *rest))
    monkeypatch.setattr(checks, "_version", lambda distribution: "")
    monkeypatch.delenv("ROS_DISTRO", raising=False)
    assert checks.CHECKS["ros"]().status == "skip"
    assert checks.CHECKS["messages"]().status == "skip"


@pytest.mark.parametrize(
    ("name", "limit", "status"),
    [
        ("real_time", 0, "warn"),
        ("real_time", 98, "ok"),
        ("real_time", resource.RLIM_INFINITY, "ok"),
        ("locked_memory", 65536, "warn"),
        ("locked_memory", 1 << 30, "ok"),
        ("locked_memory", resource.RLIM_INFINITY, "ok"),
    ],
)
def test_rights_follow_the_limits_of_an_ordinary_user(monkeypatch, name, limit, status):
    monkeypatch.setattr(checks.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(checks.resource, "getrlimit", lambda which: (0, limit))
    assert checks.CHECKS[name]().status == status


def test_little_shared_memory_is_a_warning(monkeypatch):
    room = type(checks.shutil.disk_usage("/"))(100 << 20, 99 << 20, 1 << 20)
    monkeypatch.setattr(checks.shutil, "disk_usage", lambda path: room)
    assert checks.CHECKS["shared_memory"]().status == "warn"
