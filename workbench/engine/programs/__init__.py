"""Programs that a run's own interpreter runs besides training. Each prints JSON.

Each is a file or a folder. `run.py` starts them.
"""
