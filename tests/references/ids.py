"""A slow, literal build of IDS.G over a finite class: the judge of the fast one.

It shares no code with the package. Symbols and order are those of the algorithm's statement; ``f[b, a]`` is the value
of function b at arm a in this round, ``G[j, a]`` the probability that playing j reveals a (0 or 1 in a plain graph).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np


def epoch_ends(growth: float, T: int) -> list[int]:
    """tau_1, tau_2, ...: growth^m rounded, each at least one more than the one before, up to T."""
    ends: list[int] = []
    while not ends or ends[-1] < T:
        ends.append(max((ends[-1] if ends else 0) + 1, round(growth ** (len(ends) + 1))))
    return ends


def losses(values, seen, rewards, last):
    """L(f) = sum over rounds 1..last and the observed arms of (f(x, a) - y_a)^2."""
    L = np.zeros(values.shape[1])
    for t in range(last):
        for a in seen[t]:
            L += (values[t, :, a] - rewards[t, a]) ** 2
    return L


def posterior_weights(L, sigma):
    """w proportional to exp(-(L - min L) / (2 sigma^2))."""
    w = np.array([math.exp(-(loss - min(L)) / (2 * sigma**2)) for loss in L])
    return w / w.sum()


def bayesian(f, w, arms):
    """(Delta, v) of every arm, in exact fractions; only `arms`, those on offer, can be anyone's best."""
    B, K = f.shape
    f = [[Fraction(float(f[b, a])) for a in range(K)] for b in range(B)]
    total = sum(Fraction(float(weight)) for weight in w)
    w = [Fraction(float(weight)) / total for weight in w]
    mu = [sum(w[b] * f[b][a] for b in range(B)) for a in range(K)]
    best = [max(arms, key=lambda a: (f[b][a], -a)) for b in range(B)]
    Delta = [sum(w[b] * f[b][best[b]] for b in range(B)) - mu[a] for a in range(K)]
    v = [Fraction(0)] * K
    for s in sorted({best[b] for b in range(B) if w[b] > 0}):
        P = sum(w[b] for b in range(B) if best[b] == s)
        for a in range(K):
            conditional = sum(w[b] * f[b][a] for b in range(B) if best[b] == s) / P
            v[a] += P * (conditional - mu[a]) ** 2
    return np.array(Delta, dtype=float), np.array(v, dtype=float)


def frequentist(f, L, sigma, delta, arms):
    """(Delta, information) of every arm from the bounds over { f : L(f) <= min L + 2 sigma^2 log(|F| / delta) }."""
    radius = 2 * sigma**2 * math.log(len(L) / delta)
    members = [b for b in range(len(L)) if L[b] <= min(L) + radius]
    K = f.shape[1]
    low = [min(f[b, a] for b in members) for a in range(K)]
    high = [max(f[b, a] for b in members) for a in range(K)]
    Delta = [max(high[b] for b in arms) - low[a] for a in range(K)]
    return np.array(Delta), np.array([math.log(1 + ((high[a] - low[a]) / 2) ** 2 / sigma**2) for a in range(K)])


def neighbourhood(G, v):
    """g(j) = sum over a of G[j, a] v(a)."""
    K = len(v)
    return np.array([sum(G[j, a] * v[a] for a in range(K)) for j in range(K)])


def ratio(p, Delta, g):
    """(sum p Delta)^2 / (sum p g)."""
    gain = float(np.dot(p, g))
    return float(np.dot(p, Delta)) ** 2 / gain if gain > 0 else math.inf


def smallest_ratio(Delta, g, arms):
    """By trying every pair of arms on offer; where Delta is 0 or there is no information, the smallest Delta."""
    K = len(Delta)
    first = min(arms, key=lambda a: (Delta[a], a))
    one = np.eye(K)
    if Delta[first] == 0 or all(g[a] == 0 for a in arms):
        return one[first]
    tried = [one[a] for a in arms]
    for i in arms:
        for j in arms:
            a, b = Delta[i] - Delta[j], g[i] - g[j]
            if a * b != 0:
                weight = min(max((b * Delta[j] - 2 * a * g[j]) / (a * b), 0.0), 1.0)
                tried.append(weight * one[i] + (1 - weight) * one[j])
    return min(tried, key=lambda p: ratio(p, Delta, g))


def draw(p, uniform):
    """The first arm at which the cumulative probability exceeds `uniform`."""
    reached = 0.0
    for a in range(len(p)):
        reached += p[a]
        if reached > uniform:
            return a
    return int(np.flatnonzero(p)[-1])


def run(values, graphs, rewards, uniforms, masks, *, sigma, growth, form="bayesian", delta=0.1, revealed=None):
    """Every round's (Delta, g, p, action); `graphs[t]` is a matrix, `revealed[t]` what is really revealed."""
    T, _, K = values.shape
    ends, seen, rounds = epoch_ends(growth, T), [], []
    start = 0
    for end in ends:
        L = losses(values, seen, rewards, start)
        w = posterior_weights(L, sigma)
        for t in range(start, min(end, T)):
            arms = [a for a in range(K) if masks is None or masks[t, a]]
            if form == "bayesian":
                Delta, v = bayesian(values[t], w, arms)
            else:
                Delta, v = frequentist(values[t], L, sigma, delta, arms)
            g = neighbourhood(graphs[t], v)
            p = smallest_ratio(Delta, g, arms)
            action = draw(p, uniforms[t])
            real = graphs[t] if revealed is None else revealed[t]
            seen.append([a for a in range(K) if real[action, a]])
            rounds.append((Delta, g, p, action))
        start = min(end, T)
    return rounds
