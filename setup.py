"""What pyproject.toml cannot say: dependencies that follow the environment's ROS, and a build by CMake."""

import sys
from pathlib import Path

from setuptools import Extension, setup

# front ends that run this file outside the build hooks do not put its folder on the path
sys.path.insert(0, str(Path(__file__).resolve().parent))

from build_backend.commands import BuildNative, HybridDistribution, InstallPrefix
from build_backend.ros import choose

DEPENDENCIES = [
    "numpy>=1.23",
    "llvmlite>=0.45",  # LLVM 20, the oldest that was tried
    "rosbags>=0.10",  # the first that writes MCAP
    "mcap>=1.5",  # the first whose writer flushes
    "ruamel.yaml>=0.18",
    "typer>=0.12",
    "rich>=13",
    "plotly>=5.20",
]

setup(
    distclass=HybridDistribution,
    cmdclass={"build_ext": BuildNative, "install_data": InstallPrefix},
    ext_modules=[
        Extension("sim_node._native", [])
    ],  # compiled by CMake; named so that the wheel is one of this platform
    data_files=[],  # known after CMake ran: InstallPrefix
    install_requires=[*DEPENDENCIES, *choose().run_requires],
)
