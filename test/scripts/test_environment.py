from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from build_backend.ros import choose
from scripts import environment
from scripts.environment import FailedError, SetupError, Stamp

HELD = Stamp("/tree", "3.11", "jazzy", ["test"], "digest")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the build's inputs, in which nothing is ever run: commands are noted in `ran`."""
    for path in environment.inputs():
        target = tmp_path / path.relative_to(environment.ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(environment, "STAMP", tmp_path / ".venv" / "setup.json")
    return tmp_path


def place_python(tree: Path) -> None:
    python = tree / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch(mode=0o755)


@pytest.fixture
def ran(tree: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    commands: list[list[str]] = []

    def note(what: str, command: list[str]) -> None:
        commands.append(command)
        if "venv" in command:
            place_python(tree)
        if "--editable" in command:
            (tree / "sim_node" / "_native.so").touch()

    monkeypatch.setattr(environment, "run", note)
    return commands


def make(extras: list[str], **environ: str) -> None:
    environment.make(choose(environ), extras, environment.read_stamp())


def test_second_time_does_nothing(ran: list[list[str]]) -> None:
    make(["test"])
    assert ran[0][1:3] == ["-m", "venv"]
    assert ran[-1][-1] == ".[test]"
    done = len(ran)
    make(["test"])
    assert len(ran) == done


def test_a_changed_source_installs_again_in_the_same_environment(tree: Path, ran: list[list[str]]) -> None:
    make(["test"])
    ran.clear()
    (tree / "src" / "module.c").write_text("changed")
    make(["test"])
    assert ran
    assert not [command for command in ran if "venv" in command]


def test_a_removed_extension_is_built_again(tree: Path, ran: list[list[str]]) -> None:
    make(["test"])
    ran.clear()
    (tree / "sim_node" / "_native.so").unlink()
    make(["test"])
    assert ran


def test_bench_stays_once_asked_for(ran: list[list[str]]) -> None:
    make(["test", "bench"])
    ran.clear()
    make(["test"])
    assert not ran


def test_an_interrupted_setup_is_taken_up_again(ran: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    note = environment.run

    def interrupted(what: str, command: list[str]) -> None:
        note(what, command)
        if "--editable" in command:
            raise SetupError("no network")

    monkeypatch.setattr(environment, "run", interrupted)
    with pytest.raises(SetupError):
        make(["test"])
    monkeypatch.setattr(environment, "run", note)
    ran.clear()
    make(["test"])
    assert ran[-1][-1] == ".[test]"


def test_an_environment_half_made_is_made_anew(
    tree: Path, ran: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    note = environment.run

    def interrupted(what: str, command: list[str]) -> None:
        note(what, command)
        raise KeyboardInterrupt

    monkeypatch.setattr(environment, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        make(["test"])
    monkeypatch.setattr(environment, "run", note)
    ran.clear()
    make(["test"])
    assert "the making of .venv was interrupted; making .venv anew" in capsys.readouterr().out
    assert "venv" in ran[0]


def test_a_half_installed_package_makes_the_environment_anew(tree: Path, ran: list[list[str]]) -> None:
    make(["test"])
    half = tree / ".venv" / "lib" / "python3.11" / "site-packages" / "numpy-2.0.dist-info"
    half.mkdir(parents=True)
    held = environment.read_stamp()
    assert environment.unusable(held, held or HELD) == "the installation of numpy-2.0 was interrupted"
    (half / "RECORD").touch()
    assert environment.unusable(held, held or HELD) is None


def test_another_distro_makes_the_environment_anew(
    tree: Path, ran: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    make(["test"])
    (tree / ".venv" / "of-jazzy").touch()
    make(["test"], ROS_DISTRO="kilted")
    assert ".venv holds ROS jazzy, asked for is kilted" in capsys.readouterr().out
    assert not (tree / ".venv" / "of-jazzy").exists()
    assert environment.read_stamp() == replace(environment.read_stamp() or HELD, ros="kilted")


def test_ros_is_added_to_an_environment_without(tree: Path, ran: list[list[str]]) -> None:
    make(["test"], SIM_NODE_ROS="0")
    (tree / ".venv" / "kept").touch()
    make(["test"])
    assert (tree / ".venv" / "kept").exists()
    assert any("ros-jazzy-ament-cmake" in command for command in ran)


def test_a_stamp_of_another_version_makes_the_environment_anew(
    tree: Path, ran: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    make(["test"])
    environment.STAMP.write_text('{"python": "3.11"}')
    make(["test"])
    assert "made for an unreadable setup.json; making .venv anew" in capsys.readouterr().out
    assert len([command for command in ran if "venv" in command]) == 2


@pytest.mark.parametrize(
    ("held", "wanted", "reason"),
    [
        (HELD, HELD, None),
        (replace(HELD, root="/old"), HELD, ".venv was made for /old"),
        (replace(HELD, python="3.10"), HELD, "has Python 3.10"),
        (replace(HELD, ros="system-jazzy"), HELD, "holds ROS system-jazzy"),
        (HELD, replace(HELD, ros="none"), "holds ROS jazzy, asked for is none"),
    ],
)
def test_unusable(held: Stamp, wanted: Stamp, reason: str | None, tree: Path) -> None:
    place_python(tree)
    found = environment.unusable(held, wanted)
    assert found is None if reason is None else reason in (found or "")


def test_a_foreign_environment_is_left_alone(tree: Path) -> None:
    place_python(tree)
    with pytest.raises(SetupError, match="move it away"):
        environment.unusable(None, HELD)


def test_what_is_missing_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(SetupError, match=r"a compiler \(no-such-compiler\).*apt-get install gcc g\+\+"):
        environment.check_tools(choose({"SIM_NODE_ROS": "0"}))


def test_a_wheel_that_is_not_offered_is_named_with_what_else_there_is(
    tree: Path, ran: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    environment.VENV.mkdir()

    def offers_none(what: str, command: list[str]) -> None:
        raise FailedError("exit code 1", "ERROR: No matching distribution found for ros-rclpy==9.1\n")

    monkeypatch.setattr(environment, "run", offers_none)
    with pytest.raises(SetupError, match=r"no wheel ros-rclpy==9\.1 of ROS kilted for Python 3\.11 .*SIM_NODE_ROS=0"):
        environment.install(choose({"ROS_DISTRO": "kilted"}), replace(HELD, ros="kilted"))


def test_an_old_python_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "OLDEST", (4, 0))
    with pytest.raises(SetupError, match=r"Python 3\.\d+ is too old, 4\.0 or later is needed"):
        environment.check_tools(choose({"SIM_NODE_ROS": "0"}))


def test_a_tree_that_cannot_be_written_to_is_refused(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment.os, "access", lambda path, mode: (path, mode) != (tree, environment.os.W_OK))
    with pytest.raises(SetupError, match="is read-only to this user"):
        environment.check_tools(choose({"SIM_NODE_ROS": "0"}))


def test_make_alone_lists_the_targets() -> None:
    root = environment.ROOT
    listed = subprocess.run(["make", "-s"], cwd=root, capture_output=True, text=True, check=True).stdout
    for target in re.findall(r"^([a-z]+):", (root / "Makefile").read_text(), re.MULTILINE):
        assert re.search(rf"^make {target} +\w", listed, re.MULTILINE)


def test_build_requirements_are_those_of_pyproject() -> None:
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has no tomllib")
    table = tomllib.loads((environment.ROOT / "pyproject.toml").read_text())
    assert environment.build_requires() == table["build-system"]["requires"]
