"""Tests of new names for names of a text."""

import pytest

from workbench.plan.names import own_name, renamed


@pytest.mark.parametrize(
    ("name", "own"), [("SEED", "OWN_SEED"), ("main", "own_main"), ("Model", "own_Model")]
)
def test_the_other_name_is_a_constant_if_the_name_is_one(name: str, own: str) -> None:
    assert own_name(name) == own


def test_only_the_name_itself_is_replaced() -> None:
    text = "SEED = 1  # SEED\n\n\ndef build():\n    return call(SEED, x.SEED, SEED=2), 'SEED'\n"
    assert renamed(text, {"SEED": "OWN_SEED"}) == (
        "OWN_SEED = 1  # SEED\n\n\ndef build():\n"
        "    return call(OWN_SEED, x.SEED, SEED=2), 'SEED'\n"
    )


@pytest.mark.parametrize(
    "use",
    [
        "def build(SEED): return SEED",
        "def build(*, SEED=2): return SEED",
        "def build():\n    from numbers import SEED\n    return SEED",
        "def build():\n    global SEED\n    SEED = 2",
        "build = lambda SEED: SEED",
        "class Layer:\n    SEED = 2",
        "class Layer:\n    def SEED(self): ...",
        "class Layer:\n    if True:\n        def SEED(self): ...",
    ],
)
def test_a_name_that_is_bound_in_another_way_too_is_refused(use: str) -> None:
    with pytest.raises(ValueError, match="SEED: also an argument, an import or a member"):
        renamed(f"SEED = 1\n{use}\n", {"SEED": "OWN_SEED"})
