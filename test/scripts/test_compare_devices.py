import json
import subprocess
import sys

import pytest
from devices import COMPILED

from scripts import compare_devices
from scripts.compare_devices import CASES, Side, first_difference, side

# What the first 4096 inputs of some functions hash to, on every device and machine.
PINNED = {
    "exp (f32)": "6e932e8c4c9c45d5",
    "erfinv (f32)": "7e3eb162c827af85",
    "pow (f32 f32)": "e4581d3f52b30091",
    "% (f64 f64)": "beb8b428f9355f25",
    "fma (f32 f32 f32)": "5091fe7e6b680c0e",
    "to i64 (f64)": "a810fcdf4982c1cd",
    "add (f16 f16)": "8b0322d822f392c7",
    "// (i8 i8)": "d6941e94ef4ff2a8",
    ">> (i64 i64)": "fb9a634536e4c57d",
    "randn(a) (u32)": "48b449e3266774aa",
    "poisson(a, sn.float32(b) * 0.125) (u32 u8)": "03e7a128efddec98",
    "noise 3 (u32 V3 f32)": "173c980fdc7fe48a",
    "svd3 (M3 f32)": "4d68b17e26163a5f",
    "quat_slerp (Q Q f32)": "e1c4ab58e2adbcd8",
    "inverse (M4 f64)": "87104bbe6203c775",
    "fast sin (f32)": "bafd8c75f38e3b4f",
}


@COMPILED
@pytest.mark.parametrize("name", PINNED)
def test_bits_are_the_same_on_every_device_and_machine(name, device):
    assert f"{Side(CASES[name], device).hash(0, 4096):016x}" == PINNED[name]


@pytest.mark.parametrize("wrong", [0, 1, 63, 64, 4095, 4999])
def test_the_first_input_that_differs_is_found(wrong):
    def one(first, count):
        return count

    def other(first, count):
        return count + (first <= wrong < first + count) + (first <= 4999 < first + count)

    assert first_difference(one, other, 0, 5000) == wrong


def test_a_function_that_differs_is_told_with_its_operands_and_results(monkeypatch):
    right, wrong = Side(CASES["* (f32 f32)"], "cpu"), Side(CASES["/ (f32 f32)"], "cpu")
    monkeypatch.setattr(compare_devices, "side", lambda name, device: {"cpu": right, "other": wrong}[device])
    parts = compare_devices.blocks(1000)
    each = {device: compare_devices.hashes("* (f32 f32)", device, parts) for device in ("cpu", "other")}
    found = compare_devices.compared("* (f32 f32)", 1000, each)
    assert not found.equal
    at = found.differs["input"]
    assert right.hash(0, at) == wrong.hash(0, at)
    assert right.words(at)[1] != wrong.words(at)[1]
    assert found.differs["operands"]["cpu"] == found.differs["operands"]["other"] == right.words(at)[0]
    assert found.differs["results"] == {"cpu": right.words(at)[1], "other": wrong.words(at)[1]}


def test_blocks_hold_all_inputs():
    parts = compare_devices.blocks(2 * compare_devices.BLOCK + 5)
    assert [count for _, count in parts] == [compare_devices.BLOCK, compare_devices.BLOCK, 5]
    assert parts[2][0] == 2 * compare_devices.BLOCK


def test_a_function_that_ends_with_an_error_is_told_and_not_equal():
    found = compare_devices.compared("exp (f32)", 9, {"cpu": [1], "other": "no such instruction"})
    assert (found.equal, found.hashes["other"]) == (False, "no such instruction")


def command(*args):
    return subprocess.run(
        [sys.executable, compare_devices.__file__, *args], capture_output=True, text=True, check=False
    )


def test_the_command_compares_the_cpu_with_python():
    done = command(
        "--devices", "cpu", "python", "--only", "exp (f", "& (u8", "--inputs", "100", "--jobs", "1", "--json"
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [*told["functions"]] == ["exp (f32)", "exp (f64)", "exp (f16)", "& (u8 u8)"]
    assert told["equal"]
    for one in told["functions"].values():
        assert (one["inputs"], one["exhaustive"], one["equal"]) == (100, False, True)
        assert one["cpu"] == one["python"]
    assert "4 of 4 functions" in done.stderr


@pytest.mark.parametrize("args", [["--only", "exponential"], ["--devices", "cpu", "cpu"], ["--inputs", "0"]])
def test_what_cannot_be_compared_is_refused(args):
    done = command(*args)
    assert done.returncode == 2
    assert not done.stdout


def test_a_device_that_is_not_there_is_named():
    done = command("--devices", "cpu", "cuda:99")
    assert done.returncode == 2
    assert "cuda:99" in done.stderr


def test_a_gpu_is_compared_in_this_process_and_saved(simulate, monkeypatch, tmp_path):
    simulate()
    side.cache_clear()
    saved = tmp_path / "bits.json"
    monkeypatch.setattr(compare_devices, "BITS", saved)
    monkeypatch.setattr(compare_devices, "ROOT", tmp_path)
    assert compare_devices.main(["--only", "svd2", "--inputs", "200", "--jobs", "1", "--save"]) == 0
    side.cache_clear()
    told = json.loads(saved.read_text("utf-8"))
    assert [*told["functions"]] == ["svd2 (M2 f32)", "svd2 (M2 f64)"]
    assert told["machine"]["gpu"]["title"]
    assert told["devices"] == ["cpu", "cuda:0"]
