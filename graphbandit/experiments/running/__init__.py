"""Running an experiment: tasks, engines, and resuming."""
