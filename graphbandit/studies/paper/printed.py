"""The numbers that the paper prints, to compare with ours; it gives none for its curves."""

PRINTED = {20: (329.86, 31.18), 40: (311.34, 27.21), 60: (300.64, 24.11), 80: (292.60, 29.59), 100: (277.35, 23.00)}
"""The table "Test on clique-group": number of arms to mean and standard deviation of AdaCB.G's cumulative regret."""

PRINTED_REPEATS = 40
PRINTED_ROUNDS = 2**11
