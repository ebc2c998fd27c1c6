"""The observer: it runs a training script unchanged, records every step and stops it safely.

It stands around the script in the same process and imports nothing of the workbench. So it also
runs in an interpreter that has only TensorFlow: `python observe SCRIPT`, see `__main__`.
"""
