"""The page about traces: its program is saved, its commands run, and the tracks and parts that it names are there."""

import os
import re
import subprocess
import sys
from pathlib import Path

from traced import opened, spans, tracks

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "tracing.md").read_text("utf-8")


def test_its_commands_run_and_its_words_are_those_of_the_file(tmp_path):
    (program,) = re.findall(r"```python\n# longest\.py\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "longest.py").write_text(program)
    (commands,) = re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)
    names = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHON": sys.executable}
    said = ""
    for line in commands.splitlines():
        command = line.removeprefix("$ ").replace("sim-node ", '"$PYTHON" -m sim_node.cli ')
        command = re.sub(r"^python ", '"$PYTHON" ', command)
        done = subprocess.run(command, shell=True, cwd=tmp_path, env=names, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, line + done.stdout + done.stderr
        said = done.stdout
    events = opened(tmp_path / "trace.json")
    assert "QuarterCar" in tracks(events)
    for name in {span["name"] for span in spans(events)} - {"step"}:
        assert f"`{name}`" in TEXT
        assert f"{name}: at most" in said
