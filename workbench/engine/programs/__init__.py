"""Programs that a run's own interpreter runs besides training: one per file. Each prints JSON.

`run.py` starts them.
"""
