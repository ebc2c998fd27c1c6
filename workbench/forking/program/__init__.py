"""The program of a fork server. It imports nothing of ours and runs in the run's interpreter."""
