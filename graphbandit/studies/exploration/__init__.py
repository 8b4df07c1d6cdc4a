"""How much to explore: a sweep of eta over many classes and graphs."""
