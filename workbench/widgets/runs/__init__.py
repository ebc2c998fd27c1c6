"""The list of earlier runs: search, order, deletion, and runs brought back from an archive."""
