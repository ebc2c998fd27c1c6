"""Searches by trial: the batch size that fits and is fastest, and the learning rate."""
