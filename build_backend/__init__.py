"""How the package is built: a thin layer over setuptools that knows ROS and runs CMake."""
