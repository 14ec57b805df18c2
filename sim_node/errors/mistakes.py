"""The catalogue of mistakes: each kind of mistake that the language, the compiler and the launches tell, by its code.

The code stands at the end of a message's first line, and ``pages/CODE.md`` says what it means, with wrong and right
code. A code keeps its meaning for good; one that is gone is not given again.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from sim_node.errors import (
    AbsentError,
    BuildAttributeError,
    BuildError,
    BuildNameError,
    BuildTypeError,
    BuildValueError,
    BundleError,
    Coded,
    DeviceError,
    DriverError,
    KernelError,
    LaunchError,
    SimNodeError,
    StabilityWarning,
    UnsupportedError,
)

E = TypeVar("E", bound=Coded)

# hundreds → what its mistakes are about
GROUPS = {
    "SN1": "names, and what stands outside of kernels",
    "SN2": "types and values",
    "SN3": "statements",
    "SN4": "arrays and indices",
    "SN5": "threads that stop themselves",
    "SN6": "builds, bundles and targets",
    "SN7": "launches and plans",
}
PAGES = Path(__file__).parent / "pages"
CATALOGUE: dict[str, Mistake[Any]] = {}


@dataclass(frozen=True)
class Mistake(Generic[E]):
    """A kind of mistake; calling it makes an error of its family that carries the code."""

    code: str
    family: type[E]
    title: str

    def __call__(self, *told: Any, **named: Any) -> E:
        """Make the error, of what its family takes."""
        error = self.family(*told, **named)
        error.code = self.code
        return error

    def page(self) -> str:
        """Read what the mistake means, in Markdown."""
        return (PAGES / f"{self.code}.md").read_text("utf-8")


def _mistake(code: str, family: type[E], title: str) -> Mistake[E]:
    CATALOGUE[code] = made = Mistake(code, family, title)
    return made


UNKNOWN_NAME = _mistake("SN101", BuildNameError, "a name that nothing defines")
UNASSIGNED = _mistake("SN102", BuildNameError, "a variable that some path leaves unassigned")
DEPENDS_ON_PATH = _mistake("SN103", BuildTypeError, "a name whose meaning depends on the path")
UNKNOWN_ATTRIBUTE = _mistake("SN104", BuildAttributeError, "an attribute that the thing does not have")
OUTSIDE = _mistake("SN105", UnsupportedError, "an object that exists only outside of kernels")
NO_SOURCE = _mistake("SN106", BuildError, "a function whose source cannot be read")
STATIC = _mistake("SN107", BuildError, "a static expression that cannot be evaluated")
MARKED = _mistake("SN108", BuildTypeError, "a decorator on the wrong thing")
OPTION = _mistake("SN109", BuildTypeError, "an option that there is not")
OVERLOAD = _mistake("SN110", BuildTypeError, "an overload that fits no kernel")
KERNEL_NAME = _mistake("SN111", BuildValueError, "a name of a kernel that is no identifier")

MIXED = _mistake("SN201", BuildTypeError, "two types in one operation")
OPERATOR = _mistake("SN202", BuildTypeError, "an operator that the type does not have")
RETYPED = _mistake("SN203", BuildTypeError, "a variable that changes its type")
WRONG_TYPE = _mistake("SN204", BuildTypeError, "a value of another type than its place")
UNFIT_NUMBER = _mistake("SN205", BuildTypeError, "a number that the type cannot hold")
NO_VALUE = _mistake("SN206", BuildTypeError, "something that is no value")
ARGUMENTS = _mistake("SN207", BuildTypeError, "arguments that a function does not take")
CAST = _mistake("SN208", BuildTypeError, "a cast between types of different width")
CONSTRUCTION = _mistake("SN209", BuildTypeError, "parts that do not make a vector, matrix or their kin")
FIELDS = _mistake("SN210", BuildTypeError, "a struct, or fields that do not make one")
PARAMETER_TYPE = _mistake("SN211", BuildTypeError, "a parameter without a type")
NO_RESULT = _mistake("SN212", BuildTypeError, "the result of a func that returns nothing")
KERNEL_RETURNS = _mistake("SN213", BuildTypeError, "a kernel that returns a value")
RESULTS = _mistake("SN214", BuildTypeError, "returns that do not agree")
UNPACKING = _mistake("SN215", BuildTypeError, "values that do not go into the targets")
TRUTH = _mistake("SN216", BuildTypeError, "something that is neither true nor false")
PRINTING = _mistake("SN217", BuildTypeError, "something that cannot be printed so")
CONSTANT = _mistake("SN218", BuildValueError, "constants that have no result")
POWER = _mistake("SN219", UnsupportedError, "a power of integers that is no integer")

NOT_IN_LANGUAGE = _mistake("SN301", UnsupportedError, "Python that kernels do not have")
LOOP = _mistake("SN302", UnsupportedError, "a loop over something that has no elements")
TOO_LARGE = _mistake("SN303", UnsupportedError, "code that would grow too large")
RECURSION = _mistake("SN304", UnsupportedError, "a func that calls itself")
MISSING_RETURN = _mistake("SN305", BuildError, "a path that ends without its return")
UNUSED = _mistake("SN306", UnsupportedError, "an expression that nobody uses")
ASSERT_TEXT = _mistake("SN307", UnsupportedError, "an assert whose message is computed")
TARGET = _mistake("SN308", UnsupportedError, "something that cannot be assigned")
ANNOTATION = _mistake("SN309", UnsupportedError, "an annotation of something else than a variable")
NOT_CALLABLE = _mistake("SN310", UnsupportedError, "something that kernels cannot call")
PARAMETERS = _mistake("SN311", UnsupportedError, "parameters that kernels and funcs do not have")
BY_NAME = _mistake("SN312", UnsupportedError, "arguments by name where they go by place")
MEMBERSHIP = _mistake("SN313", UnsupportedError, "an 'in' of something that has no elements")
ZERO_STEP = _mistake("SN314", BuildValueError, "a step of zero")
COORDINATES = _mistake("SN315", BuildTypeError, "a tid() of the wrong number of coordinates")

INDEX_COUNT = _mistake("SN401", BuildTypeError, "too many or too few indices")
NO_ELEMENTS = _mistake("SN402", BuildTypeError, "an index into something without elements")
INDEX_TYPE = _mistake("SN403", BuildTypeError, "an index that is no integer")
INDEX_OUTSIDE = _mistake("SN404", BuildTypeError, "a constant index outside of the components")
INDEX_AT_RUN = _mistake("SN405", UnsupportedError, "an index that must be known at build")
INDEXED_SLICE = _mistake("SN406", UnsupportedError, "a slice of an indexed array")
ATOMIC_TARGET = _mistake("SN407", BuildTypeError, "an atomic operation on no element of an array")
ATOMIC_ELEMENT = _mistake("SN408", BuildTypeError, "an atomic operation that the type does not have")
ATOMIC_ORDER = _mistake("SN409", UnsupportedError, "an atomic operation whose bits depend on the order of threads")
SPREAD = _mistake("SN410", BuildValueError, "a '*' of a slice whose bounds the build does not know")

INDEX = _mistake("SN501", KernelError, "an index outside of the array")
DIVISION = _mistake("SN502", KernelError, "an integer division by zero")
OVERFLOW = _mistake("SN503", KernelError, "an integer division whose result does not fit")
ASSERTION = _mistake("SN504", KernelError, "a condition of the kernel's that does not hold")

BUILD_TARGET = _mistake("SN601", BuildError, "a target that there is not")
NO_COMPILER = _mistake("SN602", AbsentError, "a kernel to be compiled where there is no compiler")
PROCESSOR = _mistake("SN603", BuildError, "a processor without the instructions that the kernel needs")
TOO_MANY_BYTES = _mistake("SN604", BuildError, "more bytes of arguments than a GPU takes")
BUNDLE = _mistake("SN605", BundleError, "a bundle that cannot be used")
CACHE_LIMIT = _mistake("SN606", SimNodeError, "a size of the cache that is no size")
GUARDS = _mistake("SN607", BuildError, "guards on the device python")

NOT_A_KERNEL = _mistake("SN701", LaunchError, "a launch of something that is no kernel")
KERNEL_CALLED = _mistake("SN702", LaunchError, "a kernel that is called like a function")
DIM = _mistake("SN703", LaunchError, "a dim that does not go with the kernel")
ARGUMENT_COUNT = _mistake("SN704", LaunchError, "too many or too few arguments of a launch")
ARGUMENT_TYPE = _mistake("SN705", LaunchError, "an argument of another type or shape")
ARGUMENT_MEMORY = _mistake("SN706", LaunchError, "an array whose memory does not lie as the kernel needs it")
READ_ONLY = _mistake("SN707", LaunchError, "read-only memory that a kernel writes")
ARGUMENT_VALUE = _mistake("SN708", LaunchError, "a number that the parameter cannot hold")
PLAN = _mistake("SN709", LaunchError, "a plan in the wrong state")
OPEN_TYPE = _mistake("SN710", LaunchError, "an argument that does not say a type left open")
NO_PARAMETER = _mistake("SN711", LaunchError, "a parameter that the kernel does not have")
ALGORITHM = _mistake("SN712", LaunchError, "arrays that do not go with an algorithm")
DEVICE = _mistake("SN713", DeviceError, "a device that there is not")
NO_THREAD = _mistake("SN714", SimNodeError, "a tid() outside of a launch")
UNSTABLE = _mistake("SN715", StabilityWarning, "a step that the integrator cannot follow")
ARGUMENT_DEVICE = _mistake("SN716", LaunchError, "an argument in the memory of another device")
NO_DRIVER = _mistake("SN717", DeviceError, "a GPU without what it needs on this machine")
FORKED = _mistake("SN718", DeviceError, "a GPU in a process that was forked")
DRIVER = _mistake("SN719", DriverError, "something that the driver of a GPU refuses")
BLOCK_DIM = _mistake("SN720", LaunchError, "a block_dim or max_blocks that the kernel cannot have")
