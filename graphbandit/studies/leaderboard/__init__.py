"""The leaderboard: all learners that fit over a fixed suite of problems, with a verdict computed from the results."""
