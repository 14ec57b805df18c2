from dataclasses import replace

import pytest

from sim_node.compiler.ir.digest import digest
from sim_node.compiler.ir.function import Module, Site
from sim_node.compiler.ir.parser import parse
from sim_node.errors import Location

SOURCE = """
kernel @scale(array<f32> %x, f32 %k) {
start:
  %i = tid i32 {0}
  %n = extract i32 %x {1}
  %at = bounds i32 %i, %n {0}
  %c = const f32 {0.0}
  %two = call f32 %k, %c {@plus}
  %s1_p = extract ptr %x {0}
  %s1_o = offset ptr %s1_p, %at {4}
  store %s1_o, %two {0}
  return
}
func @plus(f32 %a, f32 %b) -> f32 {
start:
  %s = add f32 %a, %b
  return %s
}
"""
SAME = [("scale", "other"), ("plus", "sum"), ("%k", "%gain"), ("start", "b7")]
OTHER = [("{0.0}", "{-0.0}"), ("{0}", "{1}"), ("%a, %b\n", "%b, %a\n"), ("f32 %k", "f64 %k"), ("= add", "= sub")]


@pytest.mark.parametrize("change", SAME)
def test_names_and_labels_are_not_part(change):
    assert digest(parse(SOURCE.replace(*change))) == digest(parse(SOURCE))


@pytest.mark.parametrize("change", OTHER)
def test_code_and_constants_are(change):
    assert SOURCE.replace(*change) != SOURCE
    assert digest(parse(SOURCE.replace(*change))) != digest(parse(SOURCE))


def test_locations_and_sites_are_not_part():
    module = parse(SOURCE)
    site = Site("index", "x", Location("k.py", 3, 4))
    function = replace(module.entry, sites=(site,), names=("a", "b"))
    assert digest(Module("scale", {**module.functions, "scale": function})) == digest(module)
