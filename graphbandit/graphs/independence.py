"""The independence number of a graph, or bounds on it: reduce, split into components, search the small ones.

Arms are joined if an edge goes either way. Throughout, ``closed[v]`` is the closed neighbourhood N[v]: v and the
arms joined to it.
"""

from __future__ import annotations

from collections import deque
from heapq import heapify, heappop, heappush

from graphbandit.graphs.graph import FeedbackGraph

Neighbourhoods = dict[int, set[int]]


def independence_bounds(graph: FeedbackGraph, exact_limit: int, node_budget: int) -> tuple[int, int]:
    """Lower and upper bound on the independence number; they are equal if the search was completed."""
    closed = _closed_neighbourhoods(graph)
    lower = upper = _reduce(closed)
    for component in sorted(_connected_components(closed), key=len):
        low, high = len(_greedy_independent_set(component)), _greedy_clique_cover(component)
        if low < high and len(component) <= exact_limit:
            low, high, nodes = _search(component, low, high, node_budget)
            node_budget -= nodes
        lower, upper = lower + low, upper + high
    return lower, upper


def _closed_neighbourhoods(graph: FeedbackGraph) -> Neighbourhoods:
    joined = FeedbackGraph.from_edges(graph.edges(), graph.n_arms, directed=False, add_loops=True)
    indptr, indices = joined.csr()
    columns, ends = indices.tolist(), indptr.tolist()
    return {v: set(columns[ends[v] : ends[v + 1]]) for v in range(graph.n_arms)}


def _reduce(closed: Neighbourhoods) -> int:
    """Remove dominated arms and take isolated ones; the rest stays in `closed`. Returns how many arms were taken.

    If N[v] is within N[u] for a neighbour u of v, some largest independent set is without u: where u is in one,
    v can replace it. An arm whose neighbours are all gone is taken. This settles trees, and much of most social
    graphs.
    """
    taken = 0
    waiting = deque(sorted(closed, key=lambda v: len(closed[v])))
    queued = set(closed)
    while waiting:
        v = waiting.popleft()
        queued.discard(v)
        if v not in closed:
            continue
        gone = {u for u in closed[v] if u != v and closed[v] <= closed[u]}
        if len(gone) == len(closed[v]) - 1:
            taken += 1
            gone.add(v)
        touched = set().union(*(closed.pop(u) for u in gone)) - gone
        for w in touched:
            closed[w] -= gone
        waiting.extend(sorted(touched - queued))
        queued |= touched
    return taken


def _connected_components(closed: Neighbourhoods) -> list[Neighbourhoods]:
    components = []
    unseen = set(closed)
    while unseen:
        component = [unseen.pop()]
        for v in component:  # grows while it is walked
            found = [u for u in closed[v] if u in unseen]
            component += found
            unseen.difference_update(found)
        components.append({v: closed[v] for v in sorted(component)})
    return components


def _greedy_independent_set(closed: Neighbourhoods) -> set[int]:
    """Take the arm with the fewest neighbours left, drop its neighbours, and so on."""
    chosen = set()
    degree = {v: len(neighbours) for v, neighbours in closed.items()}
    queue = [(d, v) for v, d in degree.items()]
    heapify(queue)
    while queue:
        d, v = heappop(queue)
        if degree.get(v) != d:  # gone, or in the queue again with fewer neighbours
            continue
        chosen.add(v)
        dropped = [u for u in closed[v] if u in degree]
        for u in dropped:
            del degree[u]
        for u in dropped:
            for w in closed[u]:
                if w in degree:
                    degree[w] -= 1
                    heappush(queue, (degree[w], w))
    return chosen


def _greedy_clique_cover(closed: Neighbourhoods) -> int:
    """The number of cliques when each arm, fewest neighbours first, joins the largest clique that admits it.

    An independent set has at most one arm of each clique.
    """
    clique_of: dict[int, int] = {}
    sizes: list[int] = []
    for v in sorted(closed, key=lambda v: len(closed[v])):
        met: dict[int, int] = {}
        for u in closed[v]:
            if u in clique_of:
                met[clique_of[u]] = met.get(clique_of[u], 0) + 1
        open_to_v = [(size, clique) for clique, size in met.items() if size == sizes[clique]]
        if open_to_v:
            clique_of[v] = max(open_to_v)[1]
            sizes[clique_of[v]] += 1
        else:
            clique_of[v] = len(sizes)
            sizes.append(1)
    return len(sizes)


def _search(component: Neighbourhoods, lower: int, upper: int, budget: int) -> tuple[int, int, int]:
    """Branch and bound. Returns better bounds, equal if at most `budget` nodes were needed, and the nodes.

    A node is a set of arms still free and the number taken. The free arms are covered by cliques 1, 2, ..; an
    independent set among the first k cliques has at most k arms. So branch on the arms from the last clique
    down, "v is in, and all arms after v are out", as long as ``taken + k`` could beat the best (Tomita's bound).
    Sets are bits of whole numbers, fewest neighbours first, so that cliques start where arms are hard to cover.
    """
    order = sorted(component, key=lambda v: len(component[v]))
    place = {v: i for i, v in enumerate(order)}
    closed = [sum(1 << place[u] for u in component[v]) for v in order]
    best, nodes = lower, 0
    stack = [((1 << len(order)) - 1, 0, upper)]
    while stack:
        free, taken, bound = stack.pop()
        if bound <= best:
            continue
        if nodes == budget:
            return best, min(upper, max(bound, *(entry[2] for entry in stack), best)), nodes
        nodes += 1
        free, taken = _take_leaves(closed, free, taken)
        best = max(best, taken)
        branches = []
        uncovered, clique = free, 0
        while uncovered:
            clique += 1
            candidates = uncovered
            while candidates:
                bit = candidates & -candidates
                v = bit.bit_length() - 1
                uncovered ^= bit
                candidates &= closed[v] ^ bit
                branches.append((v, clique))
        # the free arms of v's branch are those before v in `branches`, so the stack gets them from the first on
        before = 0
        for v, clique in branches:
            if taken + clique > best:
                stack.append((before & ~closed[v], taken + 1, taken + clique))
            before |= 1 << v
    return best, best, nodes


def _take_leaves(closed: list[int], free: int, taken: int) -> tuple[int, int]:
    """Take free arms with at most one free neighbour: some largest independent set has them."""
    again = True
    while again:
        again = False
        remaining = free
        while remaining:
            bit = remaining & -remaining
            remaining ^= bit
            neighbours = closed[bit.bit_length() - 1] & free
            if neighbours.bit_count() <= 2:
                taken += 1
                free &= ~neighbours
                remaining &= ~neighbours
                again = True
    return free, taken
