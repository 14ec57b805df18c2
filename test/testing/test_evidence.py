"""What a test leaves is whole, and says what was done."""

from sim_node.testing.evidence import Evidence, folder_of


def test_folders_are_one_a_test_and_names_that_any_file_system_takes(tmp_path):
    tests = ["test/test_car.py::test_a[1/2 <x>]", "test/test_car.py::test_a[1-2 -x-]", "other/test_car.py::test_a", "é"]
    folders = [folder_of(tmp_path, test) for test in tests]
    assert len(set(folders)) == len(tests)
    assert all(folder.parent == tmp_path and folder.name.isascii() and " " not in folder.name for folder in folders)
    assert len(folder_of(tmp_path, "x" * 1000).name) < 100


def test_a_page_and_properties(make, tmp_path, damper):
    evidence = Evidence("test_it", tmp_path, ("SYS-1", "SYS-<2>"), "It settles.")
    for options in ({"controller": damper}, {"realtime": True}, {}):
        rig = make(file=evidence.next_bag().name, **options)
        evidence.rigs.append(rig)
    first, second, _ = evidence.rigs
    first.set("force", 1.0)
    first.run(0.05)
    second.run(0.02)
    for rig in evidence.rigs:
        rig.__exit__()
    assert evidence.conclude() == ""
    told = evidence.properties()
    assert [value for name, value in told if name == "verified"] == ["50", "20"]
    text = evidence.write("passed", "").read_text()
    digests = [value for name, value in told if "digest" in name]
    words = ["PASSED", "SYS-1, SYS-&lt;2&gt;", "It settles.", "set force = 1", "run 0.05 s", "identical", "bag_2.mcap"]
    for word in (*words, "lateness", "No tick was done", *digests):
        assert word in text
    assert "<script src=" not in text


def test_a_bag_that_proves_less_than_the_run_is_told(make, tmp_path):
    rig = make()
    rig.run(0.02)
    rig.__exit__()
    rig.bag.write_bytes(rig.bag.read_bytes()[:1000])
    evidence = Evidence("test_it", tmp_path, rigs=[rig])
    assert "does not prove the run" in evidence.conclude()
