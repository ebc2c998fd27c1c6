"""All errors, collected from the code, and found by what a person has of them."""

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.machines import LAPTOP
from workbench.config import Problem, RunConfig, field_types
from workbench.errors import FAILED, SETTINGS, all_errors, find
from workbench.errors.collecting import VALUE
from workbench.plan import PlanError, make_plan
from workbench.runs import RunError, open_run
from workbench.runs.supervise.diagnosis import DIAGNOSES, Diagnosis, explain


def causes_of(text: str) -> list[str]:
    return [error.cause for error in find(text)]


def said(template: str, text: str) -> bool:
    """Return whether a text is a template with values."""
    return re.match(".+".join(map(re.escape, template.split(VALUE))), text) is not None


def problem_of(**fields: object) -> Problem:
    with pytest.raises(PlanError) as caught:
        make_plan(RunConfig(**fields), LAPTOP)  # type: ignore[arg-type]
    (problem,) = caught.value.problems
    return problem


def test_each_error_has_its_own_name_a_cause_and_a_remedy() -> None:
    errors = all_errors()
    assert len(errors) > 300
    assert max(Counter(each.name for each in errors).values()) == 1
    assert all(re.fullmatch(r"[a-z0-9_-]+", each.name) for each in errors)
    assert all(each.cause and each.fixes and all(each.fixes) for each in errors)


def test_settings_come_first_by_field_then_failed_training() -> None:
    topics = list(dict.fromkeys(error.topic for error in all_errors()))
    assert topics[:2] == [SETTINGS, FAILED]
    fields = list(dict.fromkeys(each.field for each in all_errors() if each.field))
    assert fields == [name for name in field_types() if name in fields]
    failed = {error.name for error in all_errors() if error.topic == FAILED}
    assert {known.name for known in DIAGNOSES} < failed


@pytest.mark.parametrize(
    "fields",
    [
        {"seed": -1},
        {"replicas": 2, "global_batch_size": 65},
        {"strategy": "one_device", "replicas": 2},
        {"epochs": 0},
        {"strategy": "mirrored", "workers": 2},
        {"loop": "fit", "clip_norm": 1.0},
        {"model": "no.py:build"},
        {"per_replica_batch_size": 999_999_999, "last_batch": "repeat"},
        {"gpu_memory": "groth"},
    ],
    ids=str,
)
def test_a_real_problem_is_found_by_its_text(fields: dict[str, object]) -> None:
    problem = problem_of(**fields)
    error = find(str(problem))[0]
    assert said(error.cause, str(problem))
    assert any(said(fix, problem.fix) for fix in error.fixes)
    beside_the_field = f"must be {problem.rule}; got {problem.got}. {problem.fix}"
    assert error in find(beside_the_field)


def test_a_field_gives_all_its_problems() -> None:
    assert {error.field for error in find("global_batch_size")} == {"global_batch_size"}
    assert find("--global-batch-size") == find("global_batch_size")
    assert len(find("global_batch_size")) > 3


def test_a_real_refusal_is_found_by_its_text_also_if_it_is_wrapped(tmp_path: Path) -> None:
    with pytest.raises(RunError) as caught:
        open_run("nothing", tmp_path)
    text = f"workbench.runs.RunError: {caught.value}"
    assert "No run" in find(text)[0].cause
    assert find(text.replace(" ", "\n  ", 8)) == find(text)


@pytest.mark.parametrize("known", DIAGNOSES, ids=[known.name for known in DIAGNOSES])
def test_a_diagnosis_is_found_by_its_name(known: Diagnosis) -> None:
    (error,) = find(known.name)
    assert error.topic == FAILED
    assert said(error.cause.rstrip("."), known.why)


def test_a_log_is_diagnosed_as_the_run_was() -> None:
    log = "line\nResourceExhaustedError: OOM when allocating tensor with shape[6,6]\n"
    reason = explain(1, [], log, "python")
    (error,) = find(log)
    assert error.cause in reason["cause"]
    assert error.fixes == (reason["fix"],)


def test_an_operation_that_xla_refused_is_named() -> None:
    refused = (
        "Detected unsupported operations when trying to compile graph step on XLA_CPU_JIT: Where"
    )
    (error,) = find(refused)
    assert "the operation Where of this step" in error.cause


def test_similar_words_find_an_error_and_other_words_none() -> None:
    assert "can be bundled" in causes_of("only finished runs can be bundled, because all steps")[0]
    assert causes_of("The trainer was killed (SIGKILL)")[0].startswith("The trainer was killed")
    assert find("the weather is fine") == []
    assert find("") == []
