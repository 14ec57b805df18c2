"""``sim-node inspect``: bags, plants, errors, the header."""

from pathlib import Path


def test_a_bag_is_told_without_its_plant(sim_node, bag, plant):
    plant.unlink()
    said = sim_node("inspect", "bag", bag, "--json").object
    (run,) = said["runs"]
    assert (run["topic"], run["ticks"], run["first"], run["last"], run["lost"], run["keyframes"]) == (
        "/plant", 300, 1, 300, 0, 4,
    )  # fmt: skip
    assert {topic["topic"]: topic["messages"] for topic in said["topics"]}["/plant/keyframe"] == 4
    assert run["plant"].endswith("springs.py:Springs")


def test_a_plant_is_told_with_shapes_and_sizes(sim_node, plant):
    said = sim_node("inspect", "plant", plant, "--param", "count=7", "--json").object
    shapes = {each["name"]: (each["role"], each["shape"], each["published"]) for each in said["variables"]}
    assert shapes == {"force": ("input", [7], False), "x": ("state", [7], True), "v": ("state", [7], False)}
    assert said["title"] == "Springs beside one another"
    assert {each["name"]: each["value"] for each in said["parameters"]} == {"count": 7, "k": 10.0}


def test_the_header_lies_in_the_include_folder(sim_node):
    said = sim_node("inspect", "include-dir")
    folder = Path(said.out.removesuffix("\n"))
    assert (folder / "sim_node" / "ring.h").is_file()
    assert (folder / "sim_node" / "cmake" / "sim_nodeConfig.cmake").is_file()
    assert sim_node("inspect", "include-dir", "--json").object == {"include_dir": str(folder)}


def test_an_error_is_explained(sim_node):
    said = sim_node("inspect", "error", "[sn201]", "--json").object
    assert (said["code"], said["title"]) == ("SN201", "two types in one operation")
    assert said["page"].startswith("# SN201: two types in one operation\n")
    assert sim_node("inspect", "error", "SN201").out.strip() == said["page"].strip()
    listed = sim_node("inspect", "error", "--json").object["errors"]
    assert {"code": "SN201", "title": "two types in one operation"} in listed
    unknown = sim_node("inspect", "error", "SN999", "--json")
    assert unknown.code == 2
    assert "there is no error 'SN999'" in unknown.object["error"]
