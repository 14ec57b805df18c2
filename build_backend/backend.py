"""PEP 517 and 660 hooks: setuptools' own, with the ROS wheels that the environment asks for added."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from setuptools import build_meta

from build_backend.ros import choose

build_sdist = build_meta.build_sdist
build_editable = build_meta.build_editable
get_requires_for_build_sdist = build_meta.get_requires_for_build_sdist
prepare_metadata_for_build_wheel = build_meta.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = build_meta.prepare_metadata_for_build_editable

Settings = Mapping[str, Any] | None


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """Return what a wheel's build needs beyond pyproject.toml's list."""
    return choose().build_requires


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    """Return what an editable build needs beyond pyproject.toml's list."""
    return choose().build_requires


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """Build a wheel from the tree as it is now."""
    # setuptools copies into build/lib* and packs all that lies there, files of an earlier build included
    for stale in Path("build").glob("lib*"):
        shutil.rmtree(stale)
    return build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)
