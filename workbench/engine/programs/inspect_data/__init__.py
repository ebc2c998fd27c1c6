"""The inspection of data that the user's own function returns."""
