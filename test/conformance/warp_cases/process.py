"""Runs one of Warp's test files in this process, and tells each case's start and outcome, one JSON object a line.

``python process.py MODULE --tests FOLDER --report FD [-k PATTERN] [--done FILE]``: the cases named in FILE are
left out.
"""

from __future__ import annotations

import argparse
import fnmatch
import importlib
import json
import os
import sys
import traceback
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import adapter


class Report(unittest.TestResult):
    """Writes what unittest finds: passed, failed or unsupported, with the reason."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self.descriptor = descriptor
        self.outcome: dict[str, Any] = {}

    def tell(self, **message: Any) -> None:
        """Write one line at once, so that a crash loses nothing."""
        os.write(self.descriptor, (json.dumps(message) + "\n").encode())

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.outcome = {"outcome": "passed"}
        self.tell(case=name_of(test))

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        self.tell(case=name_of(test), **self.outcome)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        if self.outcome["outcome"] == "passed":
            self.outcome = {"outcome": "unsupported", "reason": reason}

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addFailure(test, err)
        self._failed(err)

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        super().addError(test, err)
        self._failed(err)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._failed(err)

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        super().addUnexpectedSuccess(test)
        self.outcome = {"outcome": "failed", "error": "passes though expected to fail"}

    def _failed(self, err: tuple[type[BaseException], BaseException, Any]) -> None:
        text = "".join(traceback.format_exception_only(err[0], err[1])).strip()
        found = adapter.reason_in(text)
        if found is not None:
            self.outcome = {"outcome": "unsupported", "reason": found}
        elif "error" not in self.outcome:
            self.outcome = {
                "outcome": "failed",
                "error": text[:2000],
                "trace": "".join(traceback.format_exception(*err))[-6000:],
            }


def name_of(test: unittest.TestCase) -> str:
    """Name a case as ``Class.method``."""
    return ".".join(test.id().split(".")[-2:])


def cases(suite: Any) -> Iterator[unittest.TestCase]:
    """Yield the cases of nested suites."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from cases(test)
        else:
            yield test


def main() -> None:
    """Run the cases that are chosen and not done."""
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("--tests", type=Path, required=True)
    parser.add_argument("--report", type=int, required=True)
    parser.add_argument("-k", dest="pattern", default="")
    parser.add_argument("--done", type=Path)
    options = parser.parse_args()
    report = Report(options.report)
    adapter.bind(options.tests)
    report.tell(case="import")
    try:
        module = importlib.import_module(options.module)
    except BaseException:
        error = traceback.format_exc()
        report.tell(case="import", outcome="failed", error=error.strip().splitlines()[-1][:2000], trace=error[-6000:])
        sys.exit(0)
    report.tell(case="import", outcome="imported")
    adapter.Foreign.loading = False
    done = set(options.done.read_text().splitlines()) if options.done else set()
    for test in cases(unittest.defaultTestLoader.loadTestsFromModule(module)):
        name = name_of(test)
        if name in done or not fnmatch.fnmatch(name, f"*{options.pattern}*"):
            continue
        reason = next((why for case, why in adapter.FOREIGN_CASES.items() if case in name), None)
        if reason is None:
            test.run(report)
        else:
            report.tell(case=name, outcome="unsupported", reason=reason)
    report.tell(case="end", outcome="imported")


if __name__ == "__main__":
    main()
