"""The compile bench measures fresh processes on the caches that it says, with peers or without."""

from pathlib import Path

from sim_node.cli.benches import compile as bench


def test_figures_and_absent_peers(monkeypatch, tmp_path):
    for name in bench.PEERS:
        (tmp_path / f"{name}.py").write_text("raise ImportError('none here')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(bench, "KERNELS", 2)
    monkeypatch.setattr(bench, "_CHANGED", 1)
    monkeypatch.setattr(bench, "ROUNDS", {})
    kept = []
    process = bench._process

    def watched(contender, file, **asked):
        answer = process(contender, file, **asked)
        kept.append(len(list(Path(file.parent, "cache").glob("*.o"))))
        return answer

    monkeypatch.setattr(bench, "_process", watched)
    measured = bench.run()
    assert kept == [2, 2, 3, 0, 0]  # cold, warm, changed; and the peers, once each
    assert all(measured.figures[f"{state}_ms"] > 0 for state in ("cold", "warm", "changed"))
    assert all("none here" in measured.peers[name]["absent"] for name in bench.PEERS)
    assert measured.ratios == {}


def test_ratios(monkeypatch):
    times = {"sim_node": 1.0, "warp": 20.0, "numba": 30.0}
    monkeypatch.setattr(
        bench, "_process", lambda who, _file, **_: {"version": "1", "build_ms": times[who], "import_ms": 2.0}
    )
    measured = bench.run()
    assert measured.ratios["vs_warp_cold"] == measured.ratios["vs_warp_warm"] == 20.0
    assert measured.ratios["vs_numba_changed"] == 30.0
    assert measured.peers["warp"]["version"] == "1"
