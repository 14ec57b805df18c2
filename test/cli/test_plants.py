"""Plants behind references and parameter files."""

import pytest

from sim_node.cli.plants import plants_of
from sim_node.errors import SimNodeError


def test_a_reference_is_itself():
    assert plants_of("a.b:C") == [("a.b:C", {})]


def test_a_parameter_file_names_plants_at_any_depth(tmp_path):
    file = tmp_path / "nodes.yaml"
    file.write_text("""
arm:
  left:
    ros__parameters: {plant: "a:B", rate: 5, plant_parameters: {count: 9}}
/other:
  ros__parameters: {rate: 3}
/**:
  ros__parameters: {plant: quarter_car}
""")
    assert plants_of(str(file)) == [("a:B", {"count": 9}), ("quarter_car", {})]


@pytest.mark.parametrize(
    ("text", "words"),
    [("a: [", "cannot be read"), ("a: 1", "no node in it"), ("", "no node in it"), ("a: \0", "cannot be read")],
)
def test_a_file_that_names_no_plant_is_refused(tmp_path, text, words):
    file = tmp_path / "nodes.yml"
    file.write_text(text)
    with pytest.raises(SimNodeError, match=words):
        plants_of(str(file))
