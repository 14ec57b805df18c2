"""``sim-node report``: the page, its figures as JSON, and verify's exit codes."""


def test_a_page_of_a_bag(sim_node, bag, tmp_path):
    said = sim_node("report", bag, "--json")
    assert said.code == 0
    assert said.object == {
        "page": str(bag.with_suffix(".html")), "bag": str(bag), "ticks": 300, "verified": 300, "diverged": 0,
        "runs": [{
            "plant": "/plant", "generation": 1, "ticks": 300, "real_time_factor": None, "unanswered": 0, "misses": None,
        }],
    }  # fmt: skip
    assert "Springs" in bag.with_suffix(".html").read_text()


def test_what_does_not_replay_has_a_page_too(sim_node, bag, plant, tmp_path):
    plant.write_text(plant.read_text().replace("k * x[i]", "k * x[i] * 1.5"))
    page = tmp_path / "made" / "page.html"
    assert sim_node("report", bag, "-o", page).code == 1
    assert "DIVERGED" in page.read_text()


def test_unusable_names(sim_node, bag, tmp_path):
    assert sim_node("report", tmp_path / "none.mcap").code == 2
    said = sim_node("report", bag, "-o", bag)
    assert (said.code, "that is the bag" in said.err) == (2, True)
    (tmp_path / "file").write_text("")
    said = sim_node("report", bag, "-o", tmp_path / "file" / "page.html")
    assert (said.code, "cannot be written" in said.err) == (2, True)
