"""Operations that XLA, mixed precision or determinism refuses, found in TensorFlow's errors."""

import pytest

from workbench.runs.supervise.refused import explain_refused

XLA_ERRORS = {
    "Detected unsupported operations when trying to compile graph __inference_compute_61"
    "[_XlaMustCompile=true,config_proto=1356] on XLA_CPU_JIT: AsString (No registered 'AsString' "
    "OpKernel for XLA_CPU_JIT devices compatible with node {{node AsString}}){{node AsString}}": (
        "the operation AsString of this step: it has no XLA kernel here"
    ),
    "Input 1 to node `model/chosen/Reshape` with op Reshape must be a compile-time constant.": (
        "the shape of Reshape depends on values that are known only when the step runs"
    ),
    "XLA can't deduce compile time constant output shape for strided slice: [?,1]": (
        "the shape of strided slice depends"
    ),
    "Const op with type DT_STRING is not supported by XLA.": (
        "text, and this step has Const of text"
    ),
    "(0) INVALID_ARGUMENT:  Trying to access resource dense/kernel/3 (defined @ core.py:43) "
    "located in device /job:localhost/replica:0/task:0/device:CPU:1 from device /job:localhost/"
    "replica:0/task:0/device:CPU:0": (
        "this step: a replica reads dense/kernel/3 from another device"
    ),
}


@pytest.mark.parametrize("error", XLA_ERRORS)
def test_the_operation_that_xla_refuses_is_named_with_a_fix(error: str) -> None:
    refusal = explain_refused(f"Traceback:\n{error}\nThe op is created at:\n" + "File ...\n" * 60)
    assert refusal["cause"].startswith("XLA cannot compile ")
    assert XLA_ERRORS[error] in refusal["cause"]
    assert refusal["fix"].startswith("Turn xla off")


HALF_ERRORS = {
    "Input 'y' of 'Mul' Op has type float32 that does not match type bfloat16 of argument 'x'.": (
        "layers compute in bfloat16; Mul was given float32 too."
    ),
    "cannot compute Mul as input #1(zero-based) was expected to be a half tensor but is a float "
    "tensor [Op:Mul] name:": "layers compute in half; Mul was given float too.",
    "the output shape / dtype of 'dense' (of type Dense). ...\n"
    "the output shape / dtype of 'n' (of type Rotated). Either the `call()` method is incorrect\n\n"
    "Value passed to parameter 'input' has DataType bfloat16 not in list of allowed values: "
    "float64": "layers compute in bfloat16; Rotated has an operation that cannot.",
}


@pytest.mark.parametrize("error", HALF_ERRORS)
def test_an_operation_without_half_precision_is_named(error: str) -> None:
    refusal = explain_refused(f"Traceback:\n{error}\n")
    assert refusal["cause"] == f"In mixed precision, {HALF_ERRORS[error]}"
    assert 'give that layer dtype="float32"' in refusal["fix"]


DETERMINISM_ERRORS = {
    "UnimplementedError: A deterministic GPU implementation of AdjustContrastv2 is not currently "
    "available. [Op:AdjustContrastv2] name:": "AdjustContrastv2",
    "Deterministic GPU implementation of unsorted segment reduction op not available.": (
        "unsorted segment reduction op"
    ),
    "A deterministic GPU implementation of fused batch-norm backprop, when training is disabled, "
    "is not currently available.": "fused batch-norm backprop, when training is disabled",
    "The GPU implementation of SoftmaxCrossEntropyWithLogits that would have been executed is not "
    "deterministic.": "SoftmaxCrossEntropyWithLogits",
    "(0) FAILED_PRECONDITION:  Timestamp cannot be called when determinism is enabled": "Timestamp",
}


@pytest.mark.parametrize("error", DETERMINISM_ERRORS)
def test_an_operation_that_is_never_deterministic_is_named(error: str) -> None:
    refusal = explain_refused(f"Traceback:\n{error}\n")
    named = DETERMINISM_ERRORS[error]
    assert refusal["cause"] == f"{named} has no deterministic version on this device."
    assert refusal["fix"].startswith("Turn deterministic off")


def test_other_errors_are_not_explained() -> None:
    assert explain_refused("ValueError: a reason") == {}
