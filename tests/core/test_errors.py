"""Errors: one line for each fault, in the order of the file, with the nearest right name."""

import pytest

from slurmwright.core.errors import InputError, Problem, SlurmwrightError, did_you_mean, nearest


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        (Problem("cluster.yaml", 4, 7, "is wrong"), "cluster.yaml:4:7: is wrong"),
        (Problem("cluster.yaml", 4, 0, "is wrong"), "cluster.yaml:4: is wrong"),
        (Problem("cluster.yaml", 0, 0, "is wrong"), "cluster.yaml: is wrong"),
        (Problem("", 0, 0, "is wrong"), "is wrong"),
    ],
)
def test_a_problem_says_as_much_of_its_place_as_is_known(problem: Problem, line: str) -> None:
    assert str(problem) == line


def test_problems_stand_in_the_order_of_the_file_and_each_once() -> None:
    late, early = Problem("a", 10, 1, "late"), Problem("a", 9, 3, "early")
    error = InputError([late, early, late])
    assert str(error).splitlines() == ["a:9:3: early", "a:10:1: late"]


def test_bad_input_means_exit_code_two() -> None:
    assert InputError.of("x").exit_code == SlurmwrightError.exit_code == 2


def test_the_nearest_name_is_found_in_any_letter_case() -> None:
    assert nearest("taskplugn", ["TaskPlugin", "TaskProlog"]) == "TaskPlugin"
    assert nearest("xyz", ["TaskPlugin"]) is None


@pytest.mark.parametrize(
    ("word", "known", "hint"),
    [
        ("dgx-h10", ["dgx-h100", "l40s"], "did you mean 'dgx-h100'?"),
        ("DGX-A100", ["dgx-a100-40gb", "dgx-a100-80gb"], "did you mean 'dgx-a100-40gb' or 'dgx-a100-80gb'?"),
        ("zzz", ["b", "a"], "known: a, b"),
        ("zzz", [f"n{i}" for i in range(5)], "known: n0, n1 and 3 more"),
    ],
)
def test_a_hint_is_the_nearest_name_or_a_short_list(word: str, known: list[str], hint: str) -> None:
    assert did_you_mean(word, known, limit=2 if len(known) > 2 else 12) == hint
