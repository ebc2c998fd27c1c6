"""Benchmarks: each runs two sides in turn and prints their ratio with its spread.

`python -m tests.benchmarks [name ...] [--quick]` runs all of them, each in a separate process.
"""
