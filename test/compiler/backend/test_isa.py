import pytest

from sim_node.compiler.backend import isa
from sim_node.errors import BuildError


@pytest.mark.parametrize("name", isa.GPUS)
def test_without_a_version_it_is_the_least_that_knows_the_gpu(name):
    target = isa.gpu(name)
    assert (target.name, target.cpu, target.features) == (name, name, f"+ptx{isa.GPUS[name]}")
    assert target.identity == f"{name}+ptx{isa.GPUS[name]}"


@pytest.mark.parametrize(
    ("driver", "version"), [(10000, 63), (11040, 74), (12020, 82), (12060, 85), (12070, 86), (13000, 90), (99000, 90)]
)
def test_a_driver_accepts_what_its_release_brought_and_all_before(driver, version):
    assert isa.accepted(driver) == version
    assert isa.gpu("sm_75", version, driver).features == f"+ptx{version}"


def test_a_version_that_does_not_go_with_gpu_or_driver_is_refused():
    with pytest.raises(BuildError, match=r"there is no target 'sm_12'.*\n  instead: one of sm_75, sm_80"):
        isa.gpu("sm_12")
    with pytest.raises(BuildError, match=r"PTX 7\.0 does not know sm_90.*\n  instead: 7\.8 or later"):
        isa.gpu("sm_90", 70)
    with pytest.raises(BuildError, match=r"PTX 8\.9 is not a version that can be written.*\n  instead: one of 6\.3, "):
        isa.gpu("sm_90", 89)
    with pytest.raises(BuildError, match=r"sm_90: .* 12\.2 and accepts PTX 8\.2, not 8\.7.*\n  instead: PTX 8\.2, or"):
        isa.gpu("sm_90", 87, 12020)
    with pytest.raises(BuildError, match=r"accepts PTX 8\.2, not 8\.7.*\n  instead: a driver of CUDA 12\.8 or later"):
        isa.gpu("sm_120", driver=12020)
    with pytest.raises(BuildError, match=r"the driver is of CUDA 9\.2, which is too old.*\n  instead: CUDA 10\.0"):
        isa.gpu("sm_75", driver=9020)


def test_many_bytes_of_arguments_need_a_later_version_and_too_many_are_refused():
    assert isa.gpu("sm_75", parameters=4352).features == "+ptx63"
    assert isa.gpu("sm_75", parameters=4353).features == "+ptx81"
    with pytest.raises(
        BuildError, match=r"does not know sm_75, or 5000 bytes of arguments.*\n  instead: 8\.1 or later"
    ):
        isa.gpu("sm_75", 80, parameters=5000)
    with pytest.raises(BuildError, match=r"arguments are 40000 bytes, and a GPU takes 32764.*\n  instead: an array"):
        isa.gpu("sm_75", parameters=40000)


def test_targets_have_names_of_processors_and_of_gpus():
    assert isa.named("x86-64-v3").suffix == ".o"
    assert isa.named("sm_90").suffix == ".ptx"
    with pytest.raises(BuildError, match="no target 'sm_90a'"):
        isa.named("sm_90a")
    with pytest.raises(BuildError, match="no target 'sparc'"):
        isa.named("sparc")
