"""Programs of the engine that run beside training, each in a process of the run's interpreter."""
