"""Decisions over HTTP: `graphbandit serve bandits.toml`, and the client for it."""
