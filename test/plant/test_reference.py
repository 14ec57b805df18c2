import pytest

from sim_node.errors import PlantError
from sim_node.kernels.quarter_car import QuarterCar
from sim_node.plant import Plant, reference, reference_of

SOURCE = """
import sim_node as sn
from tyre import GRIP

class Cart(sn.Plant):
    grip = sn.parameter(GRIP)

class Trailer(Cart):
    pass
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "tyre.py").write_text("GRIP = 0.9\n")
    path = tmp_path / "cart.py"
    path.write_text(SOURCE)
    return path


@pytest.mark.parametrize("text", ["quarter_car", "sim_node.kernels.quarter_car:QuarterCar"])
def test_names_find_the_class(text):
    assert reference(text) is QuarterCar
    assert reference_of(QuarterCar) == "sim_node.kernels.quarter_car:QuarterCar"


def test_a_file_finds_the_class_and_back(file):
    cart = reference(f"{file}:Cart")
    assert issubclass(cart, Plant)
    assert cart().grip == 0.9
    assert reference_of(cart) == f"{file.resolve()}:Cart"
    assert reference(reference_of(cart)) is cart


def test_a_relative_path_is_stored_as_absolute(file, monkeypatch):
    monkeypatch.chdir(file.parent)
    assert reference_of(reference("cart.py:Trailer")) == f"{file.resolve()}:Trailer"


def test_a_file_with_one_plant_needs_no_class(tmp_path):
    path = tmp_path / "one.py"
    path.write_text(
        "import sim_node as sn\nfrom sim_node.kernels.quarter_car import QuarterCar\nclass One(sn.Plant): pass\n"
        "Row = list[float]\n"  # a type to Python 3.10
    )
    assert reference(str(path)).__name__ == "One"


def test_a_changed_file_is_read_again(file):
    old = reference(f"{file}:Cart")
    file.write_text(SOURCE.replace("GRIP)", "0.5)"))
    assert reference(f"{file}:Cart")().grip == 0.5
    assert old().grip == 0.9


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("quarter_cat", r"'quarter_cat' names no plant; did you mean 'quarter_car'\?; write module:Class"),
        ("", "'' names no plant"),
        ("sim_node.kernels.quarter_car:", "names no plant"),
        ("sim_node.kernels.quarter_ca:QuarterCar", "there is no module 'sim_node.kernels.quarter_ca'"),
        ("sim_node.kernels.quarter_car:QuarterCat", r"defines no 'QuarterCat'; did you mean 'QuarterCar'\?"),
        ("sim_node.kernels.quarter_car:step", "'step' in .* is not a subclass of sn.Plant"),
        ("{folder}/cat.py:Cart", r"cat.py cannot be read: No such file or directory; did you mean 'cart.py'\?"),
        ("{folder}/cart.py", r"cart.py defines 2 plants \(Cart, Trailer\); write .*cart.py:Class"),
        ("{folder}/tyre.py", "tyre.py defines no plant"),
        ("{folder}/broken.py:Cart", "broken.py cannot be loaded: ZeroDivisionError"),
    ],
)
def test_what_names_no_plant(file, text, message):
    (file.parent / "broken.py").write_text("1 / 0\n")
    with pytest.raises(PlantError, match=message):
        reference(text.format(folder=file.parent))
