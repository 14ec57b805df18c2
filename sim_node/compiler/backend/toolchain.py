"""How code of a target is made and loaded: the host's here, a GPU's by its driver (``runtime/gpu.py``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from sim_node.compiler.backend import elf, host, llvm
from sim_node.compiler.backend.target import HOST, Target
from sim_node.compiler.ir.function import Function

SYMBOL = host.SYMBOL


class Code(Protocol):
    """Loaded code: the addresses of its functions, as who launches them counts, valid while this lives."""

    @property
    def symbols(self) -> dict[str, int]:
        """By name."""


@dataclass(frozen=True, slots=True, eq=False)
class Toolchain:
    """What becomes of an optimised function: a text, of that an image to keep in files, of that code to launch.

    ``identity`` is what images are kept under, and ``suffix`` how their files end. ``link`` makes an image of what a
    bundle holds for the target, which for a processor is one. ``text`` may raise BuildError, ``load`` and ``link``
    ObjectError for what is damaged.
    """

    target: Target
    identity: str
    suffix: str
    text: Callable[[Function], str]
    image: Callable[[str], bytes]
    load: Callable[[bytes], Code]
    link: Callable[[bytes], bytes] = bytes


def toolchain(target: Target) -> Toolchain:
    """Give that of a processor; what it makes can be loaded where this process runs on such a one."""
    return Toolchain(
        target,
        target.identity,
        ".o",
        lambda function: host.module(function, target.bits),
        partial(llvm.compile_text, target=target),
        elf.load,
    )


NATIVE = toolchain(HOST)
