"""The colours of curves, in Matplotlib's figures and in notebooks."""

INK = "#222222"
"""The colour of text."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", INK)
"""Colours that everyone can tell apart (Okabe & Ito), with the colour of text as their black."""
