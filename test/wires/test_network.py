import pytest

from sim_node.errors import WireError
from sim_node.wires.network import HELD, Coupling, Network

TWO = """
plants:
  /rig/a: {plant: quarter_car, rate: 1000, topics: {poses: {type: t, rate: 5}}}
  b: {plant: "parts/b.py:B", lockstep_miss: hold}
  c: {plant: b.py}
couplings:
  - {from: /rig/a/x, to: /b/u, delay: 2e-3}
  - {from: "b/y[0, :2]", to: "/rig/a/v[1]"}
  - {from: c/y, to: b/w}
"""


@pytest.fixture
def read(tmp_path):
    """Read a file of that text."""

    def make(text):
        path = tmp_path / "net.yaml"
        path.write_text(text)
        return Network.read(path)

    return make


def test_plants_and_couplings_are_what_the_file_says(read, tmp_path):
    network = read(TWO)
    place = f"{tmp_path}/net.yaml: couplings"
    assert network.couplings == (
        Coupling(f"{place}[0]", "/rig/a", "x", "/b", "u", 2_000_000),
        Coupling(f"{place}[1]", "/b", "y[0, :2]", "/rig/a", "v[1]"),
        Coupling(f"{place}[2]", "/c", "y", "/b", "w"),
    )
    assert list(network.plants) == ["/rig/a", "/b", "/c"]
    assert network.plants["/rig/a"] == {
        **HELD,
        "lockstep_inputs": "v",
        "plant": "quarter_car",
        "rate": 1000,
        "topics.poses.type": "t",
        "topics.poses.rate": 5,
    }
    assert network.plants["/b"] == {
        **HELD,
        "lockstep_inputs": "u,w",
        "lockstep_miss": "hold",
        "plant": f"{tmp_path}/parts/b.py:B",
    }
    assert network.plants["/c"] == {"plant": f"{tmp_path}/b.py"}  # nothing holds it


def test_plants_that_wait_for_nobody_stand_last(read):
    text = TWO.replace("plant: quarter_car, rate: 1000", "plant: quarter_car, clock: native")
    assert list(read(text).plants) == ["/b", "/rig/a", "/c"]


def test_couplings_alone_are_of_nodes_that_others_start(read):
    assert read("couplings: [{from: /a/x, to: /b/u}]").plants == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("couplings: {a: b}", "couplings: a list stands here, not {'a': 'b'}"),
        ("couplings: [5]", "couplings[0]: here stands 5, not a mapping"),
        ("couplings: [{from: /a/x}]", "couplings[0]: 'to' is missing"),
        ("couplings: [{from: /a/x, to: /b/u, dealy: 1}]", "there is no 'dealy' here; did you mean 'delay'?"),
        ("couplings: [{from: /a/x, to: /b/u, delay: -1}]", "couplings[0].delay: a number of at least 0 stands here"),
        ("couplings: [{from: x, to: /b/u}]", "couplings[0].from: 'x' is not the name of a node, '/', and a field"),
        ("couplings: [{from: /a b/x, to: /b/u}]", "is not a name for a ring"),
        (TWO.replace("to: /b/u", "to: /bb/u"), "couplings[0].to: there is no plant '/bb' in this file; did you mean"),
        ("plants: {/a: 5}", "plants./a: here stands 5"),
        ("plant: {}", "there is no 'plant' here; did you mean 'plants'?"),
    ],
)
def test_what_makes_no_sense_is_told_with_its_place(read, text, words):
    with pytest.raises(WireError) as refused:
        read(text)
    assert words in str(refused.value)
