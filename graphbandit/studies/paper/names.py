"""The names of the paper's learners, the two readings of its rewards, and the two forms of its algorithm."""

READINGS = {"literal": 1.0, "rescaled": 8.0}
"""What the rewards are divided by in each reading of the paper."""

FORMS = {"paper": "AdaCB.G, paper", "ours": "AdaCB.G, ours"}
"""The two forms of the algorithm, by the names of their learners."""

FORM_NAMES = {"paper": "paper's form", "ours": "our form"}
"""The forms for readers."""

BASELINES = ("RegCB.G", "FALCON")

MAIN = (*FORMS.values(), *BASELINES)
"""The learners of every panel."""
