from types import SimpleNamespace

import pytest

from sim_node.device import names
from sim_node.device.names import DEFAULT, get_device, get_devices, meant
from sim_node.errors import DeviceError

RIG = [
    SimpleNamespace(name="cuda:0", title="NVIDIA H200", uuid="GPU-aa11bb22-0000-0000-0000-000000000000"),
    SimpleNamespace(name="cuda:1", title="NVIDIA A100-SXM4-40GB", uuid="GPU-aa22bb22-0000-0000-0000-000000000000"),
    SimpleNamespace(name="cuda:2", title="NVIDIA A100-SXM4-80GB", uuid="GPU-cc33bb22-0000-0000-0000-000000000000"),
    SimpleNamespace(name="cuda:3", title="NVIDIA GeForce RTX 4090", uuid="GPU-dd44"),
    SimpleNamespace(name="cuda:4", title="NVIDIA GeForce RTX 4090 Laptop GPU", uuid="GPU-dd55"),
]


def test_names_and_devices_lead_to_devices():
    assert get_device() is get_device("cpu") is get_device(" cpu ") is get_device(DEFAULT) is DEFAULT
    assert str(get_devices()[0]) == "cpu"
    assert str(get_device("python")) == "python"


@pytest.mark.parametrize("name", ["cuda:77", "", "tpu", 3])
def test_an_unknown_name_lists_those_present(name):
    with pytest.raises(DeviceError, match=f"no device {name!r}; present: cpu"):
        get_device(name)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("cuda", [0]),
        ("CUDA:2", [2]),
        ("cuda:9", []),
        ("cuda:x", []),
        ("gpu-AA11BB22-0000-0000-0000-000000000000", [0]),
        ("GPU-aa11", [0]),
        ("GPU-aa", [0, 1]),
        ("NVIDIA H200", [0]),
        ("h200", [0]),
        ("H20", []),
        ("A100", [1, 2]),
        ("A100-SXM4-40GB", [1]),
        ("a100 sxm4 80gb", [2]),
        ("NVIDIA GeForce RTX 4090", [3]),  # all of the name, though others have these words
        ("RTX 4090", [3, 4]),
        ("4090 Laptop", [4]),
        ("NVIDIA", []),
    ],
)
def test_a_gpu_is_meant_by_number_uuid_or_words(name, found):
    assert meant(name, RIG) == [RIG[number] for number in found]


def test_a_name_that_may_be_several_lists_them(monkeypatch):
    monkeypatch.setattr(names, "gpus", lambda: RIG)
    assert get_device('"A100-SXM4-40GB"') is RIG[1]
    with pytest.raises(
        DeviceError, match=r"(?s)may be any of 2 devices.*cuda:1  NVIDIA A100-SXM4-40GB  GPU-aa22.*cuda:2"
    ):
        get_device("A100")
    with pytest.raises(DeviceError, match="present: cpu, python, cuda:0, cuda:1"):
        get_device("V100")
    assert get_devices() == [get_device("cpu"), *RIG]


def test_without_a_driver_the_error_says_what_is_missing(monkeypatch):
    def none():
        raise DeviceError("no GPU can be used: there is no driver")

    monkeypatch.setattr(names, "gpus", none)
    with pytest.raises(DeviceError, match="no device 'cuda:0'; present: cpu, python; no GPU can be used: there is no"):
        get_device("cuda:0")
    assert get_devices() == [get_device("cpu")]
