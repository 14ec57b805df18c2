"""Processes of a bench are awaited, asked, and never left behind."""

import sys

import pytest

from sim_node.cli.benches.processes import answer, module, started, until_ready


def python(code):
    return [sys.executable, "-c", code]


def test_the_last_line_is_the_answer():
    with started(python("print('ready'); print('noise'); print('{\"a\": [1, 2]}')")) as child:
        until_ready(child)
        assert answer(child) == {"a": [1, 2]}
    with started(python("pass")) as child:
        assert answer(child) == {}


def test_one_that_ends_before_it_is_ready_is_told():
    with started(python("print('no')")) as child, pytest.raises(RuntimeError, match="ended before it was ready"):
        until_ready(child)


def test_one_that_does_not_end_is_killed():
    with started(python("print('ready', flush=True); input()")) as child:
        until_ready(child)
    assert child.returncode != 0


def test_a_module_of_the_benches_is_a_command():
    assert module("bridge_crowd", "x", 3) == [sys.executable, "-m", "sim_node.cli.benches.bridge_crowd", "x", "3"]
