"""The program of a fork server.

It runs in the run's interpreter and does not import the workbench.
"""
