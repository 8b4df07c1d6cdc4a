"""What each function class is worth: AdaCB.G with each of them beside its rivals."""
