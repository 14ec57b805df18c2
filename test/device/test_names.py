import pytest

from sim_node.device.names import DEFAULT, get_device, get_devices
from sim_node.errors import DeviceError


def test_names_and_devices_lead_to_devices():
    assert get_device() is get_device("cpu") is get_device(" cpu ") is get_device(DEFAULT) is DEFAULT
    assert [str(device) for device in get_devices()] == ["cpu"]
    assert str(get_device("python")) == "python"


@pytest.mark.parametrize("name", ["cuda:7", "", 3])
def test_an_unknown_name_lists_those_present(name):
    with pytest.raises(DeviceError, match=f"no device {name!r}; present: cpu"):
        get_device(name)
