"""The leaderboard: all learners over a fixed suite of problems."""
