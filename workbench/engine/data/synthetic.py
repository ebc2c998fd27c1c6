from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..constants import NOISE, NUM_FEATURES, NUM_TEST_EXAMPLES, NUM_TRAIN_EXAMPLES, SEED


def make_data() -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Return (features, labels) to train on and to test on; labels follow a noisy linear rule."""
    random = np.random.default_rng(SEED)
    examples = NUM_TRAIN_EXAMPLES + NUM_TEST_EXAMPLES
    features = random.standard_normal((examples, NUM_FEATURES), np.float32)
    score = features @ random.standard_normal(NUM_FEATURES, np.float32)
    labels = (score + NOISE * random.standard_normal(examples) > 0).astype(np.float32)[:, None]
    parts = (np.split(array, [NUM_TRAIN_EXAMPLES]) for array in (features, labels))
    return tuple(zip(*parts))
