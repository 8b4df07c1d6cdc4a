"""The report of an experiment as one HTML file."""
