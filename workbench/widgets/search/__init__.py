"""The views of the searches for batch size and learning rate."""
