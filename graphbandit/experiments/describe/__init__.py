"""What an experiment is, in Python and in a TOML file, and the runs it asks for."""
