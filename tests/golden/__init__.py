"""Frozen results: decisions and regrets of every learner, function class, environment and study preset."""
