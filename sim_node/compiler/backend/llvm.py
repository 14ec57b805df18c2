"""LLVM IR text to a relocatable object or to assembly: the only file that touches LLVM.

llvmlite is imported on the first compile: a process whose kernels are all in the cache, or in a bundle, never loads it.
"""

from __future__ import annotations

import importlib
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sim_node.compiler.backend.target import HOST, Target
from sim_node.errors import mistakes

# Metadata of a module in whose code LLVM's work on loops would change nothing: nine tenths of the time of its passes;
# and the passes that are left. A processor's code is no faster where instructions were combined before it is generated,
# and takes longer to make; a GPU's has fewer of them.
STRAIGHT, COMBINED = "!sim_node.straight", "!sim_node.combined"
_LEFT = {
    STRAIGHT: ("always_inliner", "simplify_cfg"),
    COMBINED: ("always_inliner", "instruction_combine", "simplify_cfg"),
}


class CodegenError(AssertionError):
    """LLVM refused what the compiler emitted: a fault of ours, not of the kernel's author."""


def compile_text(text: str, opt_level: int = 3, features: str = "", target: Target = HOST) -> bytes:
    """Compile LLVM IR for a target and return the object's bytes.

    ``opt_level`` is 0 to 3 and changes no result, only speed; neither do ``features``, which add to what the target
    has or, as in "-fma", take from it. Position-independent, small code model, so that the object can be loaded
    anywhere by ``elf``. Raises CodegenError with LLVM's message, AbsentError where it is not installed.
    """
    machine = _machine(target, opt_level, features)
    emitted: bytes = machine.emit_object(_optimised(text, opt_level, machine))
    return emitted


def assembly(text: str, opt_level: int = 3, target: Target = HOST) -> str:
    """Compile LLVM IR to the assembly of a target: for a GPU PTX, which is what its driver takes."""
    machine = _machine(target, opt_level, "")
    return str(machine.emit_assembly(_optimised(text, opt_level, machine)))


def optimised_text(text: str, opt_level: int = 3, target: Target = HOST) -> str:
    """Show the LLVM IR that code is generated from, to read and to test."""
    return str(_optimised(text, opt_level, _machine(target, opt_level, "")))


@cache
def version() -> str | None:
    """Say which llvmlite is installed, without importing it; None where none is.

    Read from the package's own file: its metadata costs more than loading a dozen kernels.
    """
    try:
        found = find_spec("llvmlite")
    except (ImportError, ValueError):
        return None
    if found is None or found.origin is None:
        return None
    try:
        text = (Path(found.origin).parent / "_version.py").read_text()
    except OSError:
        text = ""
    said = re.search(r"""version[\w\s'"]*[=:]\s*['"]([^'"]+)""", text)
    return said[1] if said else "unknown"


def _optimised(text: str, opt_level: int, machine: Any) -> Any:
    binding = _binding()
    try:
        module = binding.parse_assembly(text, context=binding.create_context())
        module.triple, module.data_layout = machine.triple, str(machine.target_data)
        module.verify()
    except RuntimeError as error:
        raise CodegenError(f"LLVM refuses the emitted code: {error}") from error
    # The passes of level 3 write a loop out for each way its conditions can go: two thirds of the time, and no faster.
    options = binding.create_pipeline_tuning_options(speed_level=min(opt_level, 2))
    options.loop_vectorization = opt_level > 0
    options.slp_vectorization = False  # 60 % of the compile time; threads are what vectors are made of
    builder = binding.create_pass_builder(machine, options)
    left = next((names for word, names in _LEFT.items() if opt_level and word in text), ())
    passes = binding.create_new_module_pass_manager() if left else builder.getModulePassManager()
    for name in left:
        getattr(passes, f"add_{name}_pass")()
    passes.run(module, builder)
    return module


@cache
def _binding() -> Any:
    try:
        binding = importlib.import_module("llvmlite.binding")
    except ImportError as error:
        raise mistakes.NO_COMPILER(
            f"there is no compiler here ({error})", remedy="pip install llvmlite, or use a bundle that holds the kernel"
        ) from error
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    return binding


@cache
def _machine(target: Target, opt_level: int, features: str) -> Any:
    binding = _binding()
    if target.cpu:
        found, cpu, known = binding.Target.from_triple(target.triple), target.cpu, target.features
    else:
        found = binding.Target.from_default_triple()
        cpu, known = binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
    every = ",".join(filter(None, (known, features)))
    if target.is_gpu:
        return found.create_target_machine(cpu=cpu, features=every, opt=opt_level)
    return found.create_target_machine(cpu=cpu, features=every, opt=opt_level, reloc="pic", codemodel="small")
