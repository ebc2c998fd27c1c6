"""Programs of the engine besides training, each in a process of the run's interpreter."""
