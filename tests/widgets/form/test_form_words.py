"""Problems of a plan in the words of the form: labels instead of names of fields and values."""

from workbench.plan import Problem
from workbench.widgets.form.form_words import sentence

LABELS = {"last_batch": "Last batch", "global_batch_size": "Global batch"}


def label_of(name: str) -> str:
    return LABELS.get(name, name)


def test_fields_and_their_values_have_the_labels_of_the_form() -> None:
    fix = 'Set it to 64 or less, or set last_batch to "keep" or "repeat".'
    problem = Problem("per_replica_batch_size", "at most 64", "80", fix)
    size = "must be at most 64; got 80. Set it to 64 or less, or "
    assert sentence(problem, label_of) == f'{size}set "Last batch" to Keep or Repeat.'


def test_a_value_of_the_own_field_has_its_label() -> None:
    rule = "another operation on CPU devices: NCCL needs real GPUs, one for each replica"
    problem = Problem("cross_device_ops", rule, "nccl", "Choose reduction_to_one_device.")
    assert sentence(problem, label_of).endswith("; got NCCL. Choose ReductionToOneDevice.")


def test_words_that_are_no_fields_stay() -> None:
    problem = Problem("model", "a model", "my_model.py:build", 'Name "my_models.py:make_it".')
    assert sentence(problem, label_of) == (
        'must be a model; got my_model.py:build. Name "my_models.py:make_it".'
    )
