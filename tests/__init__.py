"""The tests, which read as the specification of each room."""
