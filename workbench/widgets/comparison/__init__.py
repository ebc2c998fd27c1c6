"""The view of a comparison."""
