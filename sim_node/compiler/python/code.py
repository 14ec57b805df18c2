"""A kernel's program for CPython: its functions, rewritten and compiled, behind the ABI of compiled code."""

from __future__ import annotations

import ast
import ctypes
import inspect
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from sim_node.compiler.frontend.body import Body
from sim_node.compiler.ir.function import Module, Site
from sim_node.compiler.python.callables import running
from sim_node.compiler.python.rewrite import Rewriter
from sim_node.compiler.python.settle import WEAK
from sim_node.compiler.python.stop import Stop, chain, site_of

RAISED = 0xFFFF_FFFF  # the site of a thread that an exception of Python's ended, such as a debugger's

_ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)


class _Error(ctypes.Structure):
    """sn_error."""

    _fields_ = (
        ("code", ctypes.c_uint32),
        ("site", ctypes.c_uint32),
        ("thread", ctypes.c_int64),
        ("index", ctypes.c_int64),
        ("length", ctypes.c_int64),
    )


class Code:
    """The kernel's functions under CPython. Attributes: ``address`` (of the entry), ``raised`` (what ended a thread)."""

    def __init__(
        self, module: Module, bodies: dict[str, Body], sites: Sequence[Site], read: Callable[[int], list[Any]]
    ) -> None:
        self.module, self.bodies, self.sites, self.read = module, bodies, sites, read
        self.raised: BaseException | None = None
        self.codes: list[CodeType] = []
        self._functions: dict[str, FunctionType] = {}
        self.kernel = self.function(module.kernel)
        self._entry = _ENTRY(self._run)
        self.address: int = ctypes.cast(self._entry, ctypes.c_void_p).value or 0

    # functions

    def function(self, name: str) -> FunctionType:
        """Give the CPython form of one of the module's functions."""
        known = self._functions.get(name)
        if known is not None:
            return known
        body, lowered = self.bodies[name], self.module.functions[name]
        params = {name: param.type for name, param in zip(lowered.names, lowered.params) if param.type is not None}
        result = lowered.results[0] if lowered.results else None
        rewriter = Rewriter(body, params, result, self._callee)
        tree = ast.Module([rewriter.rewritten()], [])
        names: dict[str, Any] = {**body.scope.globals, **body.scope.closure, **rewriter.constants}
        exec(compile(tree, body.source.file, "exec", dont_inherit=True), names)
        made: FunctionType = names[body.source.tree.name]
        made.__defaults__, made.__kwdefaults__ = body.scope.defaults
        self.codes.append(made.__code__)
        self._functions[name] = made
        return made

    def _callee(self, names: list[str]) -> Callable[..., Any]:
        """Give what a call comes to: a function, or that of several whose parameters have the arguments' types."""
        forms = [self.function(name) for name in dict.fromkeys(names)]
        if len(forms) == 1:
            return forms[0]
        types = [[param.type for param in self.module.functions[name].params] for name in dict.fromkeys(names)]

        def call(*args: Any, **named: Any) -> Any:
            for form, wanted in zip(forms, types):
                bound = inspect.signature(form).bind(*args, **named)
                bound.apply_defaults()
                if all(map(_fits, bound.arguments.values(), wanted)):
                    return form(*args, **named)
            raise AssertionError("no form of the func has these arguments")

        return call

    # the entry

    def _run(self, begin: int, end: int, args: int, error: int) -> None:
        thread = begin
        try:
            values = self.read(args)
            with np.errstate(all="ignore"):
                for thread in range(begin, end):
                    running.thread = (np.int32(thread),)
                    self.kernel(*values)
        except BaseException as raised:
            stop = raised if isinstance(raised, Stop) else Stop("", "")
            told = _Error.from_address(error)
            if told.code == 0:
                told.code, told.site = 1, self._site(raised)
                told.thread, told.index, told.length = thread, _signed(stop.index), stop.length

    def _site(self, raised: BaseException) -> int:
        if isinstance(raised, Stop):
            try:
                return site_of(raised, chain(raised.__traceback__, self.codes), self.sites)
            except LookupError as unknown:
                raised = unknown
        self.raised = raised
        return RAISED


def _fits(value: Any, type_: Any) -> bool:
    if type(value) in WEAK:
        return True
    own = getattr(value, "_type", None) or getattr(value, "dtype", None)
    return own == (type_.numpy if isinstance(own, np.dtype) else getattr(type_, "dtype", type_))


def _signed(index: int) -> int:
    """An index as the error holds it: i64, wrapped."""
    return (index + 2**63) % 2**64 - 2**63
