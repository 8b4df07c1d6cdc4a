"""What every room may use: checks of input, random streams, array shapes, saved files."""
