"""A page is one file that fetches nothing, and shows what it is given, whatever that is."""

from html.parser import HTMLParser

from plotly import graph_objects

from sim_node.replay.page import BAD, Badge, Link, Page


def test_what_is_given_is_text(tmp_path):
    page = Page("a <b>")
    page.paragraph("x & y", Badge("<no>", BAD), Link("there", 'a"b.html'))
    page.quote("<pre>\n  two")
    page.facts({"<name>": ["one", 2, None]})
    page.table(("a", "<c>"), [(1, Badge("good", BAD))])
    page.heading("<end>")
    text = page.write(tmp_path / "made" / "page.html").read_text("utf-8")
    found = []
    parser = HTMLParser()
    parser.handle_data = found.append
    parser.feed(text)
    told = "".join(found)
    for words in ("a <b>", "x & y", "<no>", "there", "<pre>\n  two", "<name>", "one", "2", "<c>", "good", "<end>"):
        assert words in told
    assert 'href="a&quot;b.html"' in text
    assert len(text) < 4000


def test_plots_bring_their_library_once(tmp_path):
    page = Page("plots")
    for _ in range(2):
        page.plot(graph_objects.Figure(graph_objects.Scatter(x=[1, 2], y=[3, 4])))
    text = page.write(tmp_path / "page.html").read_text("utf-8")
    assert "<script src=" not in text
    assert "<link" not in text
    assert text.count("Plotly.newPlot(") == 2
    assert 3_000_000 < len(text) < 8_000_000
