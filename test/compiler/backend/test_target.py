from sim_node.compiler.backend.target import HOST, Target, processor

INFO = """\
processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 143
cpu MHz\t\t: 2000.1
flags\t\t: fpu sse4_1 fma avx2

processor\t: 1
"""


def test_features_and_model_identify_a_processor_and_its_clock_does_not():
    assert processor(INFO) == processor(INFO.replace("2000.1", "2400.0").replace("processor\t: 1", "processor\t: 2"))
    for part, other in ((" avx2", ""), ("143", "85"), ("GenuineIntel", "AuthenticAMD")):
        assert processor(INFO) != processor(INFO.replace(part, other))


def test_the_identity_names_the_target():
    assert HOST.identity == Target("host").identity
    assert HOST.identity.startswith("host-")
    assert Target("other").identity != HOST.identity
