"""What a page tells of a bag."""

import hashlib

from sim_node.replay.page import Page
from sim_node.replay.proof import add_proof, computation, digest
from sim_node.replay.report import Divergence, Report


def test_what_verify_found_is_told(tmp_path):
    first = Divergence("/car", 1, 3, "x", [2], 1.0, 2.0)
    told = ["NOT VERIFIED", "no records", "it ends early", "noted"]
    for report, words in (
        (Report("b", "cpu", ticks=3, verified=3), ["identical", "3"]),
        (
            Report("b", "cpu", ticks=3, verified=2, diverged=1, first_divergence=first),
            ["DIVERGED", "/car tick 3, field &#x27;x&#x27;[2]: recorded 1.0, computed 2.0"],
        ),
        (Report("b", "cpu", torn="it ends early", notes=["noted"]), told),
    ):  # fmt: skip
        page = Page("proof")
        add_proof(page, report)
        text = page.write(tmp_path / "page.html").read_text()
        for word in words:
            assert word in text


def test_a_computation_is_named(spring):
    told = computation(spring().keyframe())
    assert told["plant"] == "test:Spring"
    assert told["rate"] == "1000 Hz, 1 substeps a tick"
    assert told["layout digest"] == spring.state_layout.digest


def test_digests_are_of_the_bytes(tmp_path):
    (tmp_path / "bag").mkdir()
    (tmp_path / "bag" / "b.mcap").write_bytes(b"two")
    (tmp_path / "bag" / "a.yaml").write_bytes(b"one")
    assert digest(tmp_path / "bag" / "b.mcap") == hashlib.sha256(b"two").hexdigest()
    assert digest(tmp_path / "bag") == hashlib.sha256(b"onetwo").hexdigest()
