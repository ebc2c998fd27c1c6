"""The test command: `make test` and `make test-all`.

`python -m tests.suite {test,all}` runs the parts of a command one after another. What fails is run
once more, alone; what passes then is listed as FLAKY and is not counted as a failure.
"""
