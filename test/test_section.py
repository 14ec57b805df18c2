import pytest

from sim_node.errors import WireError
from sim_node.section import Section


@pytest.fixture
def section(tmp_path):
    def make(text, keys=()):
        path = tmp_path / "file.yaml"
        path.write_text(text)
        return Section.of_file(path, WireError, keys)

    return make


def test_what_it_reads(section):
    top = section("a: {b: 5e-06, c: text, d: {e: 1}}", ("a", "z"))
    a = top.section("a", ("b", "c", "d"))
    assert (a.number("b"), a.text("c"), a.number("x", 2.5), a.text("y", "z")) == (5e-06, "text", 2.5, "z")
    below = Section("f", {"d": {"e": 1}}, WireError).sections(("e",))
    assert [(key, each.values) for key, each in below] == [("d", {"e": 1})]
    rows = Section("f", {"d": [{"e": 1}]}, WireError).rows("d", ("e",))
    assert [(each.place, each.values) for each in rows] == [("f: d[0]", {"e": 1})]
    assert top.section("z").values == {}
    assert a.section("d").place.endswith("file.yaml: a.d")


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (lambda top: top.section("a", ("bb",)), "file.yaml: a: there is no 'b' here; did you mean 'bb'?"),
        (lambda top: top.section("n"), "file.yaml: n: here stands 5, not a mapping of keys to values"),
        (lambda top: list(top.rows("n")), "file.yaml: n: a list stands here, not 5"),
        (lambda top: top.text("n"), "file.yaml: n: a text stands here, not 5"),
        (lambda top: top.text("t", choices=("u", "v")), "file.yaml: t: one of u, v stands here, not 't'"),
        (lambda top: top.text("x"), "file.yaml: 'x' is missing"),
        (lambda top: top.number("t"), "file.yaml: t: a number stands here, not 't'"),
        (lambda top: top.number("yes"), "file.yaml: yes: a number stands here, not True"),
        (lambda top: top.number("inf"), "file.yaml: inf: a number stands here, not inf"),
        (lambda top: top.number("n", low=6.0), "file.yaml: n: a number of at least 6 stands here, not 5"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(section, read, said):
    with pytest.raises(WireError) as told:
        read(section("{a: {b: 1}, n: 5, t: t, yes: true, inf: .inf}"))
    assert str(told.value).endswith(said)


@pytest.mark.parametrize("text", ["- 1", "a: [", "5"])
def test_a_file_that_is_no_mapping(section, text):
    with pytest.raises(WireError, match=r"file\.yaml: "):
        section(text)


def test_no_file(tmp_path):
    with pytest.raises(WireError, match="cannot be read"):
        Section.of_file(tmp_path / "none.yaml", WireError, ())
