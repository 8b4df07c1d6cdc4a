"""The colours of curves, in Matplotlib's figures and in notebooks."""

INK = "#222222"
"""What text is written in."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", INK)
"""Colours that are told apart by everyone (Okabe & Ito), with the ink of text for their black."""
