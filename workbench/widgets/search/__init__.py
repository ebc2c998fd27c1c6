"""The views of searches: batch size and learning rate."""
