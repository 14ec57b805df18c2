import dataclasses

import pytest

from sim_node.compiler.backend import target as targets
from sim_node.compiler.backend.target import HOST, TARGETS, Target, best, features, processor, target
from sim_node.errors import BuildError

INFO = """\
processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 143
cpu MHz\t\t: 2000.1
flags\t\t: fpu sse4_1 fma avx2

processor\t: 1
flags\t\t: none
"""


def test_features_and_model_identify_a_processor_and_its_clock_does_not():
    assert processor(INFO) == processor(INFO.replace("2000.1", "2400.0").replace("processor\t: 1", "processor\t: 2"))
    for part, other in ((" avx2", ""), ("143", "85"), ("GenuineIntel", "AuthenticAMD")):
        assert processor(INFO) != processor(INFO.replace(part, other))
    assert features(INFO) == {"fpu", "sse4_1", "fma", "avx2"}
    assert features("") == frozenset()


def test_the_identity_names_the_target():
    assert HOST.identity == Target("host", HOST.machine).identity
    assert HOST.identity.startswith("host-")
    assert target("x86-64-v3").identity == "x86-64-v3"
    assert len({one.identity for one in TARGETS.values()}) == len(TARGETS)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("x86-64-v5", r"there is no target 'x86-64-v5' \[SN601\]\n  instead: one of host, x86-64-v4"),
        ("", "there is no target ''"),
    ],
)
def test_what_is_no_target_is_named(name, fault):
    with pytest.raises(BuildError, match=fault):
        target(name)


def test_the_best_that_this_processor_runs_is_chosen(monkeypatch):
    def processor_of(flags, machine="x86_64"):
        monkeypatch.setattr(targets, "_cpuinfo", lambda: f"flags : {' '.join(flags)}\n")
        monkeypatch.setattr(targets.platform, "machine", lambda: machine)

    generic = [name for name in TARGETS if name != "host"]
    for level in ("x86-64-v4", "x86-64-v3", "x86-64-v2"):
        processor_of(TARGETS[level].needs)
        assert best(generic) is TARGETS[level]
        assert best([level, "aarch64", "x86-64-v9"]) is TARGETS[level]
        for needed in TARGETS[level].needs:
            processor_of(TARGETS[level].needs - {needed})
            assert not TARGETS[level].runs
    processor_of([])
    assert best(generic) is None
    processor_of([], "aarch64")
    assert best(generic) is TARGETS["aarch64"]


def test_the_host_is_the_best_where_it_is_this_one():
    assert best([*TARGETS, HOST.identity]) is HOST
    another = dataclasses.replace(HOST)
    assert best(["host-x86_64-0000000000000000"]) is None
    assert another.identity == HOST.identity


def test_vectors_are_as_wide_as_the_target_has_them():
    assert {name: one.bits for name, one in TARGETS.items() if one.cpu} == {
        "x86-64-v4": 512, "x86-64-v3": 256, "x86-64-v2": 128, "aarch64": 128,
    }  # fmt: skip
    assert TARGETS["host"].bits in (128, 256, 512)
