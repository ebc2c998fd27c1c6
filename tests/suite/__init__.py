"""The test command: `make test` and `make test-all`.

`python -m tests.suite {test,all}` runs the parts of a command one after another. A failed test is
run again, alone. If it passes then, it is listed as FLAKY and does not count as a failure.
"""
