"""What decides what a kernel means, without lowering it: its text, and all that its text can reach.

Equal fingerprints mean equal modules. It errs on one side: two that differ may well be of equal modules, and a kernel
that reaches something of which the value cannot be told, or runs Python by ``sn.static``, has none. So it takes more
than is needed: every word of a function's text for a name that it may look up, every word behind a dot for an
attribute that it may take, of whatever it can reach.
"""

from __future__ import annotations

import builtins
import enum
import hashlib
import linecache
import marshal
import re
import sys
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from operator import attrgetter
from types import BuiltinFunctionType, CodeType, FunctionType, GenericAlias, ModuleType, UnionType
from typing import Any, get_args, get_origin

import numpy as np

from sim_node.compiler.frontend.overloading import FUNCS
from sim_node.dtypes import Scalar
from sim_node.lang.annotation import evaluated
from sim_node.lang.builtins import Builtin
from sim_node.lang.func import Func
from sim_node.lang.kernel import Kernel
from sim_node.lang.options import Options
from sim_node.lang.static import static
from sim_node.lang.values.value import Value, type_of

_OURS = ("sim_node.lang.", "sim_node.dtypes")  # what is written there is part of the compiler's own identity
_FIXED = ("builtins", "numpy", "typing")  # whose classes no one changes
_LIMIT = 20_000  # things that one kernel may reach
_LARGEST = 1 << 16  # bytes of an array that is read whole
_ABSENT = object()
_PLAIN = 2  # marshal's last format that tells nothing of which strings are one object
_WORD = re.compile(r"\w+")
_BETWEEN = {code: " " for code in range(128) if not _WORD.match(chr(code))}  # what stands between words of ASCII
_ATTRIBUTE = re.compile(r"\.(?:\s|\\|#[^\n]*\n)*([^\W\d]\w*)")
_NEXT = re.compile(r"@\w|(async\s+)?def\s|class\s")  # how the next definition begins
_OPTIONS = attrgetter(*(one.name for one in fields(Options) if one.compare))
# What repr tells all of.
_TOLD = (BuiltinFunctionType, np.ufunc, np.dtype, range, Builtin)


class UntoldError(Exception):
    """The kernel reaches something of which the value cannot be told."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """``key`` is the fingerprint, ``functions`` the author's functions that the kernel may be made of, it the first."""

    key: str
    functions: tuple[FunctionType, ...]


def fingerprint(kernel: Kernel, layouts: Mapping[str, str] | None = None) -> Fingerprint | None:
    """Tell what decides what a kernel means; None where that cannot be told. ``layouts`` as of ``build``."""
    walk = _Walk()
    try:
        walk.tell(*map(str, sys.version_info), kernel.name)
        walk.tell(*(word for layout in sorted((layouts or {}).items()) for word in layout))
        walk.kernel(kernel)
        walk.finish()
    except (UntoldError, RecursionError):
        return None
    except Exception:  # an author's property or annotation: lowering will say what is wrong with it
        return None
    return Fingerprint(walk.key(), tuple(walk.functions))


class _Walk:
    """Visits everything once, in an order that depends on nothing but what is visited."""

    def __init__(self) -> None:
        self.functions: list[FunctionType] = []
        self._told: list[str] = []
        self._numbers: dict[int, int] = {}  # of what was visited, by id
        self._kept: list[object] = []  # so that no id is used twice
        self._names = {"dtype"}  # behind a dot in any of the functions, and what numpy asks of an annotation
        self._pending: list[FunctionType] = []
        self._read: set[int] = set()  # functions that are, or were, pending
        self._owners: list[tuple[Any, set[str]]] = []  # things with attributes, and those that were visited

    def tell(self, *words: str) -> None:
        """Add words to the fingerprint."""
        self._told += words

    def key(self) -> str:
        """Give the fingerprint of what was told; marshal writes lengths, so that no two words are read as one."""
        return hashlib.sha256(marshal.dumps(self._told, _PLAIN)).hexdigest()

    def finish(self) -> None:
        """Visit what functions name, then attributes, by every name that stands anywhere, until nothing is new."""
        while True:
            while self._pending:
                self._function(self._pending.pop(0))
            found = False
            for number, (owner, done) in enumerate(self._owners):
                names = sorted(self._names - done)
                done.update(names)
                for name in names:
                    value = getattr(owner, name, _ABSENT)
                    if value is not _ABSENT:
                        self.tell("part", str(number), name)
                        self.thing(value)
                found = found or bool(names)
            if not found and not self._pending:
                return

    # definitions

    def kernel(self, kernel: Kernel) -> None:
        """Visit a kernel: what was asked of the compiler, its annotations, its function."""
        self.tell("kernel", *map(repr, _OPTIONS(kernel.options)))
        self._annotated(kernel)

    def _annotated(self, definition: Kernel | Func) -> None:
        for name, written in definition.annotations.items():
            self.tell("annotation", name)
            self.thing(evaluated(written, definition.function))
        self._plain(definition.function)

    def _plain(self, function: FunctionType) -> None:
        self.tell("function", function.__name__)
        if id(function) not in self._read:
            self._read.add(id(function))
            self._pending.append(function)

    def _function(self, function: FunctionType) -> None:
        self.functions.append(function)
        code = function.__code__
        if not vars(function).keys().isdisjoint(("__wrapped__", "__signature__")):
            raise UntoldError  # its parameters are not those of its text
        text, beyond = _text(code)
        self.tell("text", text, beyond)
        self._code(code)
        self.tell("defaults")
        self.thing(function.__defaults__)
        self.thing(function.__kwdefaults__)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            self.tell("closure", name)
            try:
                self.thing(cell.cell_contents)
            except ValueError:  # not assigned yet
                self.tell("empty")
        own = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
        self._names |= _attributes(text)
        for name in sorted(set(FUNCS.values()) & function.__globals__.keys()):  # which operators of structs call
            self.tell("operator", name)
            self.thing(function.__globals__[name])
        for name in sorted(_words(text) - own):
            for space in (function.__globals__, vars(builtins)):
                if name in space:
                    self.tell("global", name)
                    self.thing(space[name])
                    break

    def _code(self, code: CodeType) -> None:
        """What Python made of the text: it tells, too, where the text on disk is another by now."""
        self.tell("code", code.co_name, code.co_code.hex(), *code.co_varnames, *code.co_cellvars, *code.co_freevars)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._code(constant)
            else:
                self.tell(repr(constant))

    # things

    def thing(self, thing: Any) -> None:
        """Visit an object that a kernel can reach."""
        kind = type(thing)
        if thing is None or kind in (bool, int, str, bytes, complex):
            self.tell(kind.__name__, repr(thing))
        elif kind is float:
            self.tell("float", thing.hex())
        elif not self._new(thing):
            self.tell("again", str(self._numbers[id(thing)]))
        elif isinstance(thing, (np.ndarray, np.generic)):
            self._array(thing)
        elif kind in (tuple, list, set, frozenset, dict):
            self._container(thing)
        elif isinstance(thing, Func):
            self._func(thing)
        elif isinstance(thing, Kernel):
            self._owner(thing, "another kernel", str(thing.module), thing.name)
        elif isinstance(thing, ModuleType):
            self._owner(thing, "module", thing.__name__)
        elif isinstance(thing, GenericAlias | UnionType) or kind.__module__ == "typing":
            self._generic(thing)
        elif isinstance(thing, type):
            if thing.__module__ in _FIXED:
                self.tell("class", thing.__module__, thing.__qualname__)
            else:
                self.tell(*(f"{base.__module__}.{base.__qualname__}" for base in thing.__mro__))
                self._owner(thing, "class")
        elif isinstance(thing, FunctionType):
            if thing is static:
                raise UntoldError  # it runs any Python
            self._owner(thing, "python", thing.__module__, thing.__qualname__)
        elif isinstance(thing, Scalar):
            self.tell("scalar", thing.name)
        elif isinstance(thing, _TOLD):
            self.tell(kind.__name__, repr(thing))
        elif isinstance(thing, Value):
            self.thing(type_of(thing))
            self._array(np.asarray(thing))
        else:
            self._instance(thing)

    def _array(self, thing: Any) -> None:
        if thing.dtype.hasobject or thing.nbytes > _LARGEST:
            raise UntoldError
        self.tell("numpy", type(thing).__name__, repr(thing.dtype), repr(thing.shape), thing.tobytes().hex())

    def _container(self, thing: Any) -> None:
        self.tell(type(thing).__name__, str(len(thing)))
        if isinstance(thing, set | frozenset):
            if not all(type(one) in (bool, int, str, bytes, float) for one in thing):
                raise UntoldError  # there is no order to visit them in
            self.tell(*sorted(map(repr, thing)))
            return
        for one in thing.items() if isinstance(thing, dict) else thing:
            self.thing(one)

    def _generic(self, thing: Any) -> None:
        """Visit what a type in brackets is made of: its own text would name the classes in it, and no more."""
        self.tell("generic", repr(get_origin(thing) or thing))
        self.thing(get_args(thing))

    def _func(self, func: Func) -> None:
        self._owner(func, "func", func.name, func.module, *func.changes, str(len(func.overloads)))
        for overload in func.overloads:
            if overload is not func:
                self.thing(overload)
        self.thing(func.fast)
        if func.module.startswith(_OURS):
            self.tell("ours", func.function.__qualname__)
        else:
            self._annotated(func)

    def _instance(self, thing: Any) -> None:
        """Visit all that an object holds, and, later, what it gives by the names that stand in the functions."""
        kind = type(thing)
        held, ours = getattr(thing, "__dict__", None), kind.__module__.startswith(_OURS)
        self.tell("instance", kind.__module__, kind.__qualname__)
        if isinstance(thing, enum.Enum):
            self.tell(thing.name)
            self.thing(thing.value)
        elif is_dataclass(thing):
            parts = {field.name: getattr(thing, field.name) for field in fields(thing)}
            if held is not None and not ours:  # ours hold what they computed
                parts = {**held, **parts}
            self.tell(str(len(parts)))
            for name, part in parts.items():
                self.tell(name)
                self.thing(part)
        elif held is None or isinstance(thing, int | float | str | tuple | list | dict):
            raise UntoldError  # it may hold anything beside what can be seen of it
        else:
            self.thing(dict(held))
            if any("__slots__" in vars(base) for base in kind.__mro__):
                raise UntoldError
        if not ours:
            self._owner(thing, "parts")

    def _owner(self, thing: Any, *words: str) -> None:
        self.tell(*words, str(len(self._owners)))
        self._owners.append((thing, set()))

    def _new(self, thing: object) -> bool:
        """Number a thing that was not visited before."""
        if id(thing) in self._numbers:
            return False
        if len(self._kept) >= _LIMIT:
            raise UntoldError
        self._numbers[id(thing)] = len(self._kept)
        self._kept.append(thing)
        return True


def _words(text: str) -> set[str]:
    """Every word, as Python reads names; numbers among them are no one's name."""
    # a pattern takes five times as long
    return set(text.translate(_BETWEEN).split()) if text.isascii() else set(_WORD.findall(_normal(text)))


def _attributes(text: str) -> set[str]:
    """Every name behind a dot."""
    return set(_ATTRIBUTE.findall(text if text.isascii() else _normal(text)))


def _normal(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _text(code: CodeType) -> tuple[str, str]:
    """The lines of a function, and those behind it up to the next definition that is indented no more than it is.

    The function is over where a line is indented no more; not where that line goes on with what another began.
    """
    linecache.checkcache(code.co_filename)
    lines, first = linecache.getlines(code.co_filename), code.co_firstlineno - 1
    if first >= len(lines):
        raise UntoldError
    margin, last, end = _indentation(lines[first]), _last(code), None
    over = last
    while over < len(lines) and not (_NEXT.match(lines[over].lstrip()) and _indentation(lines[over]) <= margin):
        if (
            end is None
            and _indentation(lines[over]) <= margin
            and lines[over].strip()
            and lines[over].lstrip()[0] != "#"
        ):
            end = over
        over += 1
    if end is None or _goes_on("".join(lines[first:end])):
        end = over
    return "".join(lines[first:end]), "".join(lines[end:over])


def _goes_on(text: str) -> bool:
    """Whether a text may end inside of brackets, of a string or of a line."""
    brackets = sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))
    quotes = text.count('"""') % 2 or text.count("'''") % 2
    return bool(brackets or quotes or text.rstrip().endswith("\\"))


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _last(code: CodeType) -> int:
    """The last line of a function that has an instruction, counted from 1."""
    inner = [_last(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return max(code.co_firstlineno, *inner, *{line or 0 for _, _, line in code.co_lines()})
