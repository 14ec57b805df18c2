import re

import sim_node as sn
from scripts.compare_devices import device_cases

CASES, ELSEWHERE = device_cases.CASES, device_cases.ELSEWHERE


def test_every_public_function_is_a_case():
    homes = {name for name, home in sn._HOMES.items() if re.match(r"sim_node\.lang\.(builtins|library)", home)}
    tried = {name for case in CASES.values() for name in re.findall(r"sn\.(\w+)", case.expression)}
    assert homes - tried - {*ELSEWHERE} == set()
    assert tried & {*ELSEWHERE} == set()
    assert {*ELSEWHERE} - homes == set()


def test_functions_of_one_f32_are_compared_on_all_inputs():
    for name in device_cases.MATH:
        assert CASES[f"{name} (f32)"].inputs == 2**32
        assert CASES[f"{name} (f64)"].inputs >= 20_000_000


def test_names_are_of_one_case_each():
    made = list(device_cases._cases())
    assert len({case.name for case in made}) == len(made)
