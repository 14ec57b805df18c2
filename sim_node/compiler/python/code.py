"""A kernel's program for CPython: its functions, rewritten and compiled, behind the ABI of compiled code."""

from __future__ import annotations

import ast
import ctypes
import inspect
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from sim_node.compiler.frontend.body import Body
from sim_node.compiler.ir.function import Function, Module
from sim_node.compiler.python.arrays import Array
from sim_node.compiler.python.block import Block, coordinates
from sim_node.compiler.python.callables import running
from sim_node.compiler.python.rewrite import Rewriter
from sim_node.compiler.python.settle import WEAK, captured
from sim_node.compiler.python.stop import StopError, chain, site_of
from sim_node.dtypes import ArrayType, Scalar
from sim_node.lang.func import Func
from sim_node.lang.values.value import Value, type_of

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
    """The kernel's functions under CPython.

    Attributes: ``address`` (of the entry), ``raised`` (the exception that ended a thread, if one did).
    """

    def __init__(self, module: Module, bodies: dict[str, Body], flat: Function, block: Block) -> None:
        self.module, self.bodies, self.block = module, bodies, block
        self.sites, self.dims = flat.sites, flat.dims
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
        body = self.bodies[name]
        rewriter = Rewriter(body, self)
        tree = ast.Module([self.tree(rewriter)], [])
        names: dict[str, Any] = {**body.scope.globals, **body.scope.closure, **rewriter.constants}
        exec(compile(tree, body.source.file, "exec", dont_inherit=True), names)
        made: FunctionType = names[body.source.tree.name]
        written = body.scope.function
        made.__defaults__ = captured(written.__defaults__ or ())
        made.__kwdefaults__ = {name: captured(value) for name, value in (written.__kwdefaults__ or {}).items()}
        self.codes.append(made.__code__)
        self._functions[name] = made
        return made

    def tree(self, rewriter: Rewriter) -> ast.FunctionDef:
        """Give the tree that is compiled."""
        return rewriter.rewritten()

    def chosen(self, names: list[str], func: Func) -> Callable[..., Any]:
        """Give what a call comes to that came to several functions: that of this func, and of the arguments' types."""
        functions = {one.function for one in (*func.overloads, func.fast) if one is not None}
        forms = {name: self.function(name) for name in names if self.bodies[name].scope.function in functions}
        if len(forms) == 1:
            return next(iter(forms.values()))

        def call(*args: Any, **named: Any) -> Any:
            for name, form in forms.items():
                bound = inspect.signature(form).bind(*args, **named)
                bound.apply_defaults()
                lowered = self.module.functions[name]
                given = [bound.arguments[parameter] for parameter in lowered.names]
                if all(_fits(value, param.type) for value, param in zip(given, lowered.params)):
                    return form(*args, **named)
            raise AssertionError("no form of the func has these arguments")

        return call

    # the entry

    def taken(self) -> BaseException:
        """Give the exception that ended a thread, and forget it."""
        raised, self.raised = self.raised, None
        return raised if raised is not None else AssertionError("nothing was raised")

    def _run(self, begin: int, end: int, args: int, error: int) -> None:
        thread = begin
        try:
            values, dims = self.block.read(args), self.block.dims(args)
            with np.errstate(all="ignore"):
                for thread in range(begin, end):
                    running.thread = coordinates(thread, dims, self.dims)
                    self.kernel(*values)
        except BaseException as raised:
            stop = raised if isinstance(raised, StopError) else StopError("", "")
            told = _Error.from_address(error)
            if told.code == 0:
                told.code, told.site = 1, self._site(raised)
                told.thread, told.index, told.length = thread, _signed(stop.index), _signed(stop.length)

    def _site(self, raised: BaseException) -> int:
        if isinstance(raised, StopError):
            try:
                return site_of(raised, chain(raised.__traceback__, self.codes), self.sites)
            except LookupError as unknown:
                raised = unknown
        self.raised = raised
        return RAISED


def _fits(value: Any, wanted: Any) -> bool:
    if isinstance(value, Value):
        return bool(type_of(value) == wanted)
    if isinstance(value, Array):
        return isinstance(wanted, ArrayType) and (wanted.dtype, wanted.ndim) == (value.dtype, value.ndim)
    return type(value) in WEAK or (isinstance(wanted, Scalar) and value.dtype == wanted.numpy)


def _signed(index: int) -> int:
    """An index as the error holds it: i64, wrapped."""
    return (index + 2**63) % 2**64 - 2**63
