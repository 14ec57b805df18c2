"""The page about CAN: its wiring is read, its program runs, and its tables are what there is."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sim_node.cli.main import run
from sim_node.wires.crc import CRCS
from sim_node.wires.e2e import PROFILES
from sim_node.wires.wiring import Wiring

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "can.md").read_text("utf-8")
(WIRING,) = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
(PROGRAM,) = re.findall(r"```python\n# loop\.py\n(.*?)```", TEXT, re.DOTALL)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    shutil.copy(ROOT / "examples" / "ecu" / "suspension.dbc", tmp_path)
    (tmp_path / "can.yaml").write_text(WIRING)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_its_wiring_says_all_that_there_is(folder):
    wiring = Wiring.read(folder / "can.yaml")
    (body,), (damper,) = wiring.sent, wiring.received
    assert (body.cycle_ns, body.phase_ns, body.coding.counter) == (10_000_000, 2_000_000, "Counter")
    assert (damper.timeout_ns, damper.missing) == (50_000_000, "zero")


def test_its_program_runs(folder, cache):
    name = f"suspension_{os.getpid()}"
    (folder / "can.yaml").write_text(WIRING.replace("/suspension", f"/{name}"))
    code = PROGRAM.replace('"suspension"', f'"{name}"')
    names = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=names, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"(Damper .*\n)*\d+ heard\n", done.stdout), done.stdout


def test_its_commands_are_ours(folder, capsys):
    for line in re.findall(r"^\$ sim-node (\w+)", TEXT, re.MULTILINE):
        assert run([line, "--help"]) == 0
    for option in ("--log", "--node"):
        assert option in TEXT


def test_its_tables_are_complete():
    rows = {int(number): row for number, row in re.findall(r"^\| (\d+) (\|.*)$", TEXT, re.MULTILINE)}
    assert set(rows) == set(PROFILES)
    for number, profile in PROFILES.items():
        assert f"byte {profile.crc_at.at}" in rows[number]
        assert f"byte {profile.counter_at.at}" in rows[number]
        assert re.findall(r"`(\w+)`", rows[number]) == list(profile.modes)
    assert all(f"`{name}`" in TEXT for name in CRCS)


def test_what_it_points_at_is_there():
    for path in re.findall(r"\]\(((?!http)[\w/.]+)\)", TEXT):
        assert (ROOT / "docs" / path).exists(), path
