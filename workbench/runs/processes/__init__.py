"""The processes of a run: how they start, cold or forked, and how they end."""
