from scripts import clock_drift


def test_it_says_how_far_off_the_last_tick_was(cache, capsys):
    assert clock_drift.main(0.05, 1000.0) in (0, 1)
    said = capsys.readouterr().out
    assert said.startswith("50 ticks of 1000000 ns ended ")
    assert said.endswith(" 0 left out\n")
