"""The figures of the reproduction; `pictures` has all of them."""
