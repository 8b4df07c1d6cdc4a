"""Data frames of pandas, Polars and Arrow, told apart without importing any of them."""


def is_frame(value: object) -> bool:
    """Whether this has columns with names, like a frame of pandas, Polars or Arrow; nothing is imported for that."""
    return hasattr(value, "columns") and (hasattr(value, "shape") or hasattr(value, "collect"))
