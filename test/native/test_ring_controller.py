"""The public header: it compiles alone as C11 and C++17, and a controller in C closes the loop with it."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from sim_node import dtypes
from sim_node.bridge import Publisher
from sim_node.bridge.transports.shared import SHARED
from sim_node.layout import Layout

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
HEADERS = sorted((ROOT / "include").rglob("*.h"))
STRICT = ["-O2", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}"]
C11 = [os.environ.get("CC", "cc"), "-std=c11", "-D_GNU_SOURCE", *STRICT]
pytestmark = pytest.mark.skipif(shutil.which(C11[0]) is None, reason="no C compiler")


@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.name)
@pytest.mark.parametrize("words", [["cc", "-std=c11", "-D_GNU_SOURCE"], ["c++", "-std=c++17"]], ids=["c11", "c++17"])
def test_each_header_compiles_alone(words, header, tmp_path):
    if shutil.which(words[0]) is None:
        pytest.skip(f"no {words[0]}")
    source = tmp_path / ("alone.c" if words[0] == "cc" else "alone.cc")
    name = header.relative_to(ROOT / "include")
    source.write_text(f'#include "{name}"\n#include "{name}"\nint main(void) {{ return 0; }}\n')
    subprocess.run([*words, *STRICT, "-c", str(source), "-o", str(tmp_path / "alone.o")], check=True)


@pytest.mark.parametrize("group", [None, str(os.getegid())], ids=["user", "group"])
@pytest.mark.parametrize("transport", list(SHARED))
def test_a_controller_in_c_closes_the_loop(tmp_path, transport, group):
    program = tmp_path / "controller"
    subprocess.run([*C11, str(HERE / "ring_controller.c"), "-o", str(program)], check=True)
    name = f"test_c_{os.getpid()}"
    states = Layout.of([("level", dtypes.float64, (), "m")])
    inputs = Layout.of([("valve", dtypes.float64, (), "")])
    with Publisher(states, inputs, name, transport=transport, group=group) as publisher:
        child = subprocess.Popen([program, name], stdout=subprocess.PIPE, text=True)
        assert child.stdout.readline() == "ready\n"
        for step in range(1, 6):
            slot = publisher.next()
            slot["level"][...] = step / 2
            slot.commit(step, step)
            assert child.stdout.readline() == f"{step} {step}\n"
            command = publisher.take("valve")
            while command is None:
                command = publisher.take("valve")
            assert command == np.float64(step)
    assert child.wait(60) == 0
    child.stdout.close()
    assert "no segment" in subprocess.run([program, name], stdout=subprocess.PIPE, text=True).stdout
