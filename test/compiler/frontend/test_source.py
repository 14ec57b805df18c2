"""Finding the source of functions wherever they are defined."""

import linecache
import sys

import numpy as np
import pytest
from interpreter import run

import sim_node as sn
from sim_node.compiler.frontend import lower
from sim_node.compiler.frontend.source import source
from sim_node.dtypes import ArrayType
from sim_node.errors import BuildError, BuildTypeError

F = ArrayType(sn.float32)


def test_a_function_in_a_function_has_columns_of_the_file():
    @sn.kernel
    def inner(x: F):
        x[0] = 2

    tree = source(inner.function).tree
    assert tree.name == "inner"
    assert tree.body[0].col_offset == 8


def test_decorated_functions_are_found_by_their_first_line():
    def twice(thing):
        return thing

    @twice
    @sn.kernel
    @twice
    def inner(x: F):
        x[0] = 2

    assert source(inner.function).tree.name == "inner"


def test_columns_count_characters(written):
    made = written("@sn.kernel\ndef k(größe: int, x: array()):\n    x[0] = größe + größe + 1.5\n")["k"]
    with pytest.raises(BuildTypeError) as caught:
        lower(made)
    location = caught.value.location
    assert location.text[location.column :] == "1.5"
    assert str(caught.value).splitlines()[2].index("^") == location.text.index("1.5")


def test_no_source():
    names = {"sn": sn, "F": F}
    exec("@sn.kernel\ndef k(x: F):\n    x[0] = 1.0\n", names)
    with pytest.raises(BuildError, match="the source of 'k' cannot be read") as caught:
        lower(names["k"])
    assert "IPython" in caught.value.remedy


def test_a_file_that_changed(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "changing_kernels.py"
    text = (
        "import sim_node as sn\nfrom sim_node.dtypes import ArrayType\n\n"
        "@sn.kernel\ndef k(x: ArrayType(sn.float32)):\n    x[0] = 1.0\n"
    )
    file.write_text(text)
    import changing_kernels

    lower(changing_kernels.k)
    for changed in ("# one line more\n\n" + text, "def broken(:\n" + text):
        file.write_text(changed)
        with pytest.raises(BuildError, match="has changed since it was imported"):
            lower(changing_kernels.k)
    file.write_text(text.replace("1.0", "2.0") + "\n")
    del sys.modules["changing_kernels"]
    sys.path_importer_cache.clear()
    import changing_kernels as again

    x = np.zeros(1, np.float32)
    run(lower(again.k), [x])
    assert x[0] == 2.0


def test_a_file_is_parsed_once(written, monkeypatch):
    names = written("".join(f"@sn.kernel\ndef k{i}(x: array()):\n    x[0] = {i}.0\n" for i in range(3)))
    import ast

    parse, count = ast.parse, []
    monkeypatch.setattr(ast, "parse", lambda *args: count.append(1) or parse(*args))
    for i in range(3):
        lower(names[f"k{i}"])
    assert len(count) == 1
    assert names["k0"].function.__code__.co_filename in linecache.cache
