"""References to plants, as commands, parameters and bags write them."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from sim_node.dtypes import is_class
from sim_node.errors import PlantError
from sim_node.errors.suggestion import suggestion
from sim_node.plant.faultable import faultable, reference_of_faults, split
from sim_node.plant.plant import Plant

# Short names of the plants that come with the package.
BUILT_IN = {"quarter_car": "sim_node.kernels.quarter_car:QuarterCar"}

_FORMS = "write module:Class, path/to/file.py:Class, path/to/file.py, or a short name"


def reference(text: str) -> type[Plant]:
    """Find the plant that a reference names: ``module:Class``, ``file.py:Class``, ``file.py`` or a short name.

    ``?faults=NAME,NAME:TICKS;rows=16`` behind it makes the plant whose named variables may have faults.
    Raises PlantError saying what is missing, and what there is.
    """
    plain, allowed = split(text)
    kind = _class_of(plain)
    return kind if allowed is None else faultable(kind, allowed)  # type: ignore[arg-type]  # to mypy the class of a plant has no hash


def _class_of(text: str) -> type[Plant]:
    full = BUILT_IN.get(text, text)
    place, colon, name = full.rpartition(":") if ":" in full else (full, "", "")
    if place.endswith(".py"):
        return _plant_in(_load_file(Path(place), text), name, text)
    if not colon or not place or not name:
        raise PlantError(f"'{text}' names no plant{suggestion(text, BUILT_IN)}; {_FORMS}")
    return _plant_in(_load_module(place, text), name, text)


def reference_of(kind: type[Plant]) -> str:
    """The reference that finds a plant's class again: by absolute path where it was loaded from a file."""
    kind, faults = reference_of_faults(kind)
    module = sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None)
    if file and (kind.__module__ == "__main__" or getattr(module, "sim_node_file", False)):
        return f"{Path(file).resolve()}:{kind.__qualname__}{faults}"
    return f"{kind.__module__}:{kind.__qualname__}{faults}"


def module_of(place: str, text: str) -> ModuleType:
    """Load the module or the file ``*.py`` of a reference ``text``.

    Raises PlantError where it cannot be.
    """
    return _load_file(Path(place), text) if place.endswith(".py") else _load_module(place, text)


def _load_module(name: str, text: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as fault:
        if fault.name is None or not (name == fault.name or name.startswith(fault.name + ".")):
            raise PlantError(
                f"'{text}': module '{name}' needs module '{fault.name}', which is not installed"
            ) from fault
        raise PlantError(f"'{text}': there is no module '{fault.name}' on the Python path; {_FORMS}") from fault
    except (Exception, SystemExit) as fault:  # a script that ends its process is no plant either
        raise PlantError(f"'{text}': module '{name}' cannot be imported: {type(fault).__name__}: {fault}") from fault


def _load_file(path: Path, text: str) -> ModuleType:
    """Run a file as a module of its own, which may import its neighbours; once, as long as the file stays as it is."""
    path = path.expanduser().resolve()
    try:
        content = path.read_bytes()
    except OSError as fault:
        near = suggestion(path.name, (file.name for file in path.parent.glob("*.py"))) if path.parent.is_dir() else ""
        raise PlantError(f"'{text}': {path} cannot be read: {fault.strerror}{near}") from fault
    name = f"sim_node_plant_{hashlib.sha256(bytes(path) + content).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    module.sim_node_file = True  # type: ignore[attr-defined]
    sys.modules[name] = module  # as import does, so that dataclasses and pickle find it
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as fault:
        del sys.modules[name]
        raise PlantError(f"'{text}': {path} cannot be loaded: {type(fault).__name__}: {fault}") from fault
    finally:
        sys.path.remove(str(path.parent))
    return module


def _plants(module: ModuleType) -> dict[str, type[Plant]]:
    """The plants that a module defines itself."""
    found = {}
    for name, value in vars(module).items():
        if is_class(value) and issubclass(value, Plant) and value.__module__ == module.__name__:
            found[name] = value
    return found


def _plant_in(module: ModuleType, name: str, text: str) -> type[Plant]:
    plants, where = _plants(module), getattr(module, "__file__", module.__name__)
    if not name:
        if len(plants) != 1:
            what = f"{len(plants)} plants ({', '.join(plants)}); write {text}:Class" if plants else "no plant"
            raise PlantError(f"'{text}': {where} defines {what}")
        return next(iter(plants.values()))
    found: object = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is None:
        raise PlantError(f"'{text}': {where} defines no '{name}'{suggestion(name, plants)}")
    if not is_class(found) or not issubclass(found, Plant):
        raise PlantError(f"'{text}': '{name}' in {where} is not a subclass of sn.Plant{suggestion(name, plants)}")
    return found
