"""Stands in for ``warp.tests.unittest_utils``: what Warp's test files take from it, on the CPU.

The files import everything of it, the modules too.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import importlib
import io
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import sim_node as wp

__all__ = [
    "CheckOutput",
    "StdErrCapture",
    "StdOutCapture",
    "add_function_test",
    "add_function_test_register_kernel",
    "add_kernel_test",
    "assert_array_equal",
    "assert_np_equal",
    "contextlib",
    "ctypes",
    "functools",
    "gc",
    "get_cuda_test_devices",
    "get_selected_cuda_test_devices",
    "get_test_devices",
    "importlib",
    "io",
    "make_isolated_kernel",
    "np",
    "os",
    "re",
    "run_python_subprocess",
    "subprocess",
    "sys",
    "tempfile",
    "time",
    "unittest",
    "wp",
]

Function = Callable[..., Any]
_LIBC = ctypes.CDLL(None)


class _Capture:
    """Takes what a standard stream gets, from Python and from native code, between begin() and end()."""

    stream = ""

    def begin(self) -> None:
        self.saved = getattr(sys, self.stream)
        self.saved.flush()
        self.descriptor = {"stdout": 1, "stderr": 2}[self.stream]
        self.target = os.dup(self.descriptor)
        self.file = io.TextIOWrapper(
            tempfile.TemporaryFile(buffering=0),  # noqa: SIM115 - end() closes it
            encoding="utf-8",
            newline="",
            write_through=True,
        )
        os.dup2(self.file.fileno(), self.descriptor)
        setattr(sys, self.stream, self.file)

    def end(self) -> str:
        _LIBC.fflush(None)
        os.dup2(self.target, self.descriptor)
        os.close(self.target)
        self.file.seek(0)
        text = self.file.buffer.read().decode()
        self.file.close()
        setattr(sys, self.stream, self.saved)
        return text


class StdOutCapture(_Capture):
    stream = "stdout"


class StdErrCapture(_Capture):
    stream = "stderr"


class CheckOutput:
    """Fails the test when the block prints anything."""

    def __init__(self, test: unittest.TestCase) -> None:
        self.test = test

    def __enter__(self) -> None:
        self.capture = StdOutCapture()
        self.capture.begin()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        text = self.capture.end()
        if kind is None and text.strip():
            self.test.fail(f"Unexpected output:\n'{text.rstrip()}'")


def get_test_devices(mode: str | None = None) -> list[Any]:
    return [wp.get_device("cpu")]


def get_cuda_test_devices(mode: str | None = None) -> list[Any]:
    return []


get_selected_cuda_test_devices = get_cuda_test_devices


def assert_array_equal(result: Any, expect: Any) -> None:
    np.testing.assert_equal(result.numpy(), expect.numpy())


def assert_np_equal(result: Any, expect: Any, tol: float = 0.0) -> None:
    if tol != 0.0:
        np.testing.assert_allclose(result.flatten(), expect.flatten(), atol=tol, equal_nan=True)
    else:
        np.testing.assert_array_equal(result, expect)


def make_isolated_kernel(func: Function, **options: Any) -> Any:
    return wp.Kernel(func=func, **options)


def _identifier(device: object) -> str:
    return re.sub(r"\W|^(?=\d)", "_", str(device))


def _case(function: Function, device: object, check_output: bool, named: Mapping[str, Any]) -> Function:
    @functools.wraps(function)
    def case(self: unittest.TestCase) -> None:
        with CheckOutput(self) if check_output else contextlib.nullcontext():
            function(self, device, **named)

    return case


def add_function_test(
    cls: type, name: str, func: Function, devices: Any = None, check_output: bool = True, **named: Any
) -> None:
    """Add a test of the class for each device, or one without."""
    if devices is None:
        setattr(cls, name, _case(func, None, check_output, named))
        return
    listed = devices if isinstance(devices, list) else [devices]
    if not listed:
        setattr(cls, name, lambda self: self.skipTest("CUDA"))
    for device in listed:
        setattr(cls, f"{name}_{_identifier(device)}", _case(func, device, check_output, named))


def add_function_test_register_kernel(cls: type, name: str, func: Function, devices: Any = None, **named: Any) -> None:
    """Call the function for its kernels alone, then add it as a test."""
    func(None, None, **named, register_kernels=True)
    add_function_test(cls, name, func, devices=devices, **named)


def add_kernel_test(
    cls: type,
    kernel: Any,
    dim: Any,
    name: str | None = None,
    expect: Any = None,
    inputs: Any = None,
    devices: Any = None,
    inputs_factory: Function | None = None,
) -> None:
    """Add a test that launches the kernel and compares the array that it wrote, where one is expected."""

    def test(self: unittest.TestCase, device: Any) -> None:
        arguments = list((inputs_factory(device) if inputs_factory else inputs) or ())
        if expect:
            result = wp.array(expect, dtype=int, device=device)
            output = wp.zeros_like(result)
            arguments.append(output)
        with CheckOutput(self):
            wp.launch(kernel, dim=dim, inputs=arguments, device=device)
        if expect:
            assert_array_equal(output, result)

    for device in get_test_devices() if devices is None else devices:
        case = functools.partialmethod(test, device)
        setattr(cls, f"{name or kernel.key}_{_identifier(device)}", case)


def run_python_subprocess(
    source: str, *args: str, timeout: float = 60, hide_gpu: bool = False, env_updates: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run source in a child interpreter in which warp is bound as in this one."""
    here, tests = str(Path(__file__).parent), sys.modules["warp.tests"].__path__[0]
    bound = f"import sys; sys.path.insert(0, {here!r}); import adapter; adapter.bind({tests!r})\n{source}"
    return subprocess.run(
        [sys.executable, "-u", "-c", bound, *args],
        check=False,
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **(env_updates or {})},
    )
