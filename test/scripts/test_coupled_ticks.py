from scripts import coupled_ticks


def test_it_says_what_a_tick_costs(cache, capsys):
    assert coupled_ticks.main(20) == 0
    assert capsys.readouterr().out.startswith("20 ticks: ")
