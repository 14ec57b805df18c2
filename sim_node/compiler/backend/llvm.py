"""LLVM IR text to a relocatable object or to assembly: the only file that touches LLVM.

llvmlite is imported on the first compile: a process whose kernels are all in the cache never loads it.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

from sim_node.compiler.backend.target import HOST, Target


class CodegenError(AssertionError):
    """LLVM refused what the compiler emitted: a fault of ours, not of the kernel's author."""


def compile_text(text: str, opt_level: int = 3, features: str = "") -> bytes:
    """Compile LLVM IR for this processor and return the object's bytes.

    ``opt_level`` is 0 to 3 and changes no result, only speed; neither do ``features``, which add to what the processor
    has or, as in "-fma", take from it. Position-independent, small code model, so that the
    object can be loaded anywhere by ``elf``. Raises CodegenError with LLVM's message.
    """
    emitted: bytes = _machine(HOST, opt_level, features).emit_object(_optimised(text, opt_level, HOST, features))
    return emitted


def assembly(text: str, opt_level: int = 3, target: Target = HOST) -> str:
    """Compile LLVM IR to the assembly of a target: for a GPU PTX, which is what its driver takes."""
    return str(_machine(target, opt_level).emit_assembly(_optimised(text, opt_level, target)))


def optimised_text(text: str, opt_level: int = 3, target: Target = HOST) -> str:
    """Show the LLVM IR that code is generated from, to read and to test."""
    return str(_optimised(text, opt_level, target))


def _optimised(text: str, opt_level: int, target: Target, features: str = "") -> Any:
    binding, machine = _binding(), _machine(target, opt_level, features)
    try:
        module = binding.parse_assembly(text, context=binding.create_context())
        module.triple, module.data_layout = machine.triple, str(machine.target_data)
        module.verify()
    except RuntimeError as error:
        raise CodegenError(f"LLVM refuses the emitted code: {error}") from error
    options = binding.create_pipeline_tuning_options(speed_level=opt_level)
    options.loop_vectorization = opt_level > 0
    options.slp_vectorization = False  # 60 % of the compile time; threads are what vectors are made of
    builder = binding.create_pass_builder(machine, options)
    passes = builder.getModulePassManager()
    passes.run(module, builder)
    return module


@cache
def _binding() -> Any:
    binding = importlib.import_module("llvmlite.binding")
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    return binding


@cache
def _machine(target: Target, opt_level: int, features: str = "") -> Any:
    binding = _binding()
    if target.cpu:
        found = binding.Target.from_triple(target.triple)
        return found.create_target_machine(cpu=target.cpu, features=target.features, opt=opt_level)
    return binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=",".join(filter(None, (binding.get_host_cpu_features().flatten(), features))),
        opt=opt_level,
        reloc="pic",
        codemodel="small",
    )
