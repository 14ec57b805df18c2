import json

import numpy as np
import pytest

import sim_node as sn

pytest.importorskip("gmpy2", reason="proofs are decided by MPFR")

from scripts import prove_math

ONE = 0x3F800000


@sn.func
def careless(x: sn.float32):
    return x * x


def test_a_proof_counts_and_keeps_the_hard_inputs(tmp_path, monkeypatch):
    monkeypatch.setattr(prove_math, "PROOFS", tmp_path / "proofs.json")
    monkeypatch.setattr(prove_math, "HARD", tmp_path / "hard.json")
    seen = []
    proof = prove_math.prove("exp", seen.append, ONE, ONE + 3 * prove_math.CHUNK)
    assert (proof.misrounded, proof.inputs, len(seen)) == (0, 3 * prove_math.CHUNK, 3)
    assert 0 < proof.sample_error < prove_math.TRUSTED
    proof.hard = [(ONE, 2.0**-55)]
    prove_math.save(proof)
    assert json.loads((tmp_path / "hard.json").read_text()) == {"exp": [ONE]}
    assert json.loads((tmp_path / "proofs.json").read_text())["exp"]["nearest"] == 2.0**-55


def test_a_wrong_function_is_found(monkeypatch):
    monkeypatch.setattr(sn, "exp", careless, raising=False)
    proof = prove_math.prove("exp", lambda _: None, ONE, ONE + 100)
    assert (proof.misrounded, proof.wrong[0]) == (100, ONE)


def test_one_unit_in_the_last_place_is_found(monkeypatch):
    reference = prove_math.reference

    def off(name, x):
        right, undecided = reference(name, x)
        right[3] = np.nextafter(right[3], np.float32(9))
        return right, undecided

    monkeypatch.setattr(prove_math, "reference", off)
    proof = prove_math.prove("exp", lambda _: None, ONE, ONE + 100)
    assert (proof.misrounded, proof.wrong) == (1, [ONE + 3])


@pytest.mark.parametrize(("x", "wanted"), [(-103.97, 1e-45), (-104.0, 0.0), (88.73, np.inf), (0.0, 1.0)])
def test_true_values_are_those_of_f32(x, wanted):
    assert prove_math.true_value("exp", x) == np.float32(wanted)


def test_what_lies_near_a_boundary_is_left_to_mpfr():
    x = np.array([0.0, 2.0**-25, 2.0**-24, 1.0, np.nan], np.float32)  # 1 + 2^-24 is a boundary
    assert prove_math.reference("exp", x)[1].tolist() == [2]
    assert prove_math.reference("exp2", np.array([-150.0], np.float32))[1].tolist() == [0]


def test_a_mirrored_function_is_compared_on_both_sides(monkeypatch):
    proof = prove_math.prove("sin", lambda _: None, ONE, ONE + 100)
    assert (proof.inputs, proof.misrounded) == (200, 0)
    monkeypatch.setattr(sn, "sin", sn.cos, raising=False)
    monkeypatch.setitem(prove_math.REFERENCES, "sin", prove_math.REFERENCES["cos"])
    proof = prove_math.prove("sin", lambda _: None, ONE, ONE + 100)
    assert (proof.misrounded, proof.wrong[0]) == (100, ONE | prove_math.SIGN)
