"""The texts of the page: about each experiment, and about every choice the paper leaves open."""

ABOUT = {
    "ablation": """The paper's figure "comparison": 50 arms, a new graph every round. k-tree: one hub joined to all
        others; cliques: 5 disjoint ones; random: ceil(0.05 K²) uniformly drawn pairs joined. Mean and a band of one
        standard deviation, as in the paper.""",
    "clique-table": """The paper's table "Test on clique-group" and its curves: AdaCB.G on 5 cliques. The other learners
        and the two probes are our additions. The probes ask where the printed figures may come from: without F_m all
        arms are candidates and lambda = 1; with F_m = F no function is ever ruled out.""",
    "flixster": """The paper's figure on Flixster: 100 connected subgraphs of 100 members, cut by union-find, one drawn
        every round.""",
    "parts": """What the paper argues for in words: each part of AdaCB.G taken away alone. A change above 0 means that
        the part helps. FALCON's baseline is the paper's remark, not a part of its algorithm.""",
    "independence": """50 arms in 1 to 50 disjoint cliques. One clique: every arm reveals all; 50: no graph at all.""",
    "arms": """5 cliques, so the independence number is 5 at any number of arms.""",
    "horizon": """Each number of rounds is a run of its own, as learners know it. Bounds are drawn with constant 1 and
        for rewards in [0, 1], which these are not: compare shapes, not levels. Normal contexts have no uniform gap, so
        Theorem 3.1 is drawn with the median gap over contexts, averaged over 5 instances.""",
    "reward-scale": """The factor by which all rewards are divided: 1 is the literal reading, 8 the rescaled one. The
        noise stays 1.""",
    "directed": """Each edge is there with the given probability, in one direction independently of the other. There
        the exploration set S is not an independent set and may exceed alpha(G); coverage and the linear program hold
        all the same. Counted in the first rounds of the first repeat, in the rescaled reading.""",
}
"""A description of each experiment."""

CHOICES = {
    "rounds of the ablation and of Flixster": "2^11, as in the table; the paper gives none",
    "density of the random graphs": "0.05; the paper gives none",
    "number of cliques in the ablation": "5, as in the table; the paper gives none",
    "repeats": """50 for ablation and Flixster (the names of the paper's figure files), 40 for the table (its text) and
        40 or 50 for our additions; 8 for all in the quick preset""",
    "reward scale": "two readings: 1, as printed, and 8, which is closer to the paper's figures; both always shown",
    "eta, delta": "1 and 0.1, the paper's, for all learners",
    "the network": """the paper's subgraphs are not published, nor how they were drawn; union-find joins friends in
        random order while a set stays within 100 members, and keeps sets of exactly 100""",
    "the gain in claim 2": "the share of RegCB.G's mean regret that is saved",
    "'makes the gain' in claim 2": "alone it gives more than half of it, and without it less than half is left",
    "'barely' in claim 3": "less than 5 %",
    "'does not grow' in claim 4": "not higher at the most arms than at the fewest, and an exponent of K below 1/4",
    "intervals": """95 %, not adjusted for their number: Student's for paired differences over repeats, bootstrap over
        whole repeats (2,000 resamples) for shares and exponents""",
}
"""Every choice that the paper leaves open, and what was chosen."""
