"""Finding the source of functions wherever they are defined."""

import ast
import doctest
import linecache
import sys
import zipfile

import numpy as np
import pytest
from interpreter import run

import sim_node as sn
from sim_node.compiler.frontend import lower
from sim_node.compiler.frontend.source import _parsed as parsed
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


def typed(name, text):
    """What a shell does: it compiles what was typed under a name of its own, and tells linecache."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return compile(text, name, "exec")


def written(kernel):
    x = np.zeros(1, np.float32)
    run(lower(kernel), [x])
    return x[0]


@pytest.mark.parametrize("name", ["<ipython-input-{}-abc>", "<python-input-{}>", "/tmp/ipykernel_1/{}.py"])
def test_shells_and_notebooks(name):
    """A name that is defined again in another cell is another kernel, and a func of another cell is another func."""
    names = {"sn": sn, "F": F, "__name__": "__main__"}
    func = "@sn.func\ndef f(x: float):\n    return x + {}\n"
    kernel = "@sn.kernel\ndef k(x: F):\n    x[0] = f(1.0)\n"
    exec(typed(name.format(1), func.format(1.0)), names)
    exec(typed(name.format(2), kernel), names)
    assert written(names["k"]) == 2.0
    exec(typed(name.format(3), func.format(2.0)), names)
    exec(typed(name.format(4), kernel), names)
    assert written(names["k"]) == 3.0


def test_in_ipython():
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell.instance()
    for cell in ("import sim_node as sn", "@sn.kernel\ndef k(x: sn.array(dtype=float)):\n    x[0] = 4.0\n"):
        shell.run_cell(cell).raise_error()
    assert written(shell.user_ns["k"]) == 4.0


DOCTEST = """
>>> import sim_node as sn
>>> @sn.kernel
... def k(x: sn.array(dtype=float)):
...     x[sn.tid()] = 5.0
>>> x = sn.zeros(2)
>>> sn.launch(k, 2, inputs=[x])
>>> x.numpy().tolist()
[5.0, 5.0]
"""


def test_in_a_doctest():
    test = doctest.DocTestParser().get_doctest(DOCTEST, {}, "shown", None, None)
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_in_a_zipped_module(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as packed:
        head = "import sim_node as sn\n\n@sn.kernel\n"
        packed.writestr("zipped_kernels.py", head + "def k(x: sn.array(dtype=float)):\n    x[0] = 6.0\n")
    monkeypatch.syspath_prepend(tmp_path / "packed.zip")
    import zipped_kernels

    assert written(zipped_kernels.k) == 6.0


def test_closures_of_one_source_are_kernels_of_their_own():
    def make(gain, op):
        @sn.kernel
        def k(x: F):
            x[0] = op(gain)

        return k

    @sn.func
    def twice(x):
        return x * 2.0

    @sn.func
    def half(x):
        return x * 0.5

    made = [make(gain, op) for gain in (1.0, 3.0) for op in (twice, half)]
    assert [written(k) for k in made] == [2.0, 0.5, 6.0, 1.5]


def test_a_mark_may_stand_below_others():
    def again(kernel):
        return sn.Kernel(kernel.function)

    @again
    @sn.kernel()
    def k(x: F):
        x[0] = 7.0

    assert written(k) == written(sn.kernel(k.function)) == 7.0


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


def test_a_function_is_parsed_once_and_alone(written, monkeypatch):
    names = written("".join(f"@sn.kernel\ndef k{i}(x: array()):\n    x[0] = {i}.0\n" for i in range(3)))
    parse, texts = ast.parse, []
    monkeypatch.setattr(ast, "parse", lambda text: texts.append(text) or parse(text))
    for _ in range(2):
        lower(names["k1"])
    assert "".join(texts).count("x[0] = 1.0") == 1
    assert "k0" not in "".join(texts)
    assert "k2" not in "".join(texts)
    assert names["k1"].function.__code__.co_filename in linecache.cache


@pytest.mark.parametrize(
    "body",
    [
        "    a = 1.0\n# indented less\n    x[0] = a + 1.0\n",
        "    a = (\n1.0\n+ 1.0\n)\n    x[0] = a\n",
        '    """A text\nof lines\ndef that() look like code:\n"""\n    x[0] = 2.0\n',
        "    a = 1.0 \\\n+ 1.0\n\n\n    x[0] = a\n",
        "    if x[0] > 5.0:\n        x[0] = 1.0\n    else:\n        x[0] = 2.0",
    ],
)
@pytest.mark.parametrize("head", ["{}", "if True:\n{}\nelse:\n    pass\n"])
def test_a_function_ends_where_python_ends_it(written, head, body):
    """Lines indented less than the function belong to it where they are comments, or inside brackets or strings."""
    text = f"@sn.kernel\ndef k(\n    x: array(),\n):\n{body}"
    if head != "{}":
        text = "".join(line if line[:1] in ("1", "+", ")", "#") else f"    {line}" for line in text.splitlines(True))
    k = written(head.format(text) + "\nother = 3\n")["k"]
    x = np.zeros(1, np.float32)
    run(lower(k), [x])
    assert x[0] == 2.0


def test_cells_of_a_notebook_are_not_all_kept():
    for number in range(100):
        file, text = f"<cell {number}>", f"def f():\n    return {number}\n"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        names = {}
        exec(compile(text, file, "exec"), names)
        assert source(names["f"]).tree.body[0].value.value == number
        del linecache.cache[file]
    assert len(parsed) <= 32
