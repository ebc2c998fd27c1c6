"""What a run's own interpreter does beside training: a program a file, that prints JSON.

`run.py` starts them.
"""
