"""Studies of the package's own choices: how much to explore, and what each function class is worth."""
