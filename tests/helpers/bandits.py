"""What tests of bandits share: all there is to one, and a run with late rewards that is saved and loaded on its way."""

import pytest

import graphbandit as gb


def content(bandit, folder):
    """All there is to a bandit: state, random stream, open decisions and rewards not yet learnt from."""
    bandit.save(folder / "content.gb")
    return (folder / "content.gb").read_bytes()


def refuse(bandit, call, error, message, folder):
    """The call raises this, and afterwards the bandit is what it was."""
    before = content(bandit, folder)
    with pytest.raises(error) as caught:
        call(bandit)
    assert type(caught.value) is error
    assert message in str(caught.value)
    assert content(bandit, folder) == before


def play(bandit, drawn, first, stop):
    """The decisions of these rounds of an instance, one by one, with prompt rewards."""
    made = []
    for t in range(first, stop):
        made.append(bandit.decide(drawn.contexts[t], drawn.graphs[t]))
        bandit.observe(made[-1], {int(a): float(drawn.rewards[t, a]) for a in made[-1].revealed})
    return made


def play_late(bandit, drawn, rounds, *, late, folder=None, masks=None):
    """The bandit and its decisions after some rounds; rewards come `late` rounds late, and one arm of a round only.

    With a `folder`, the bandit is saved there and loaded again after each round.
    """
    made = []
    for t in range(rounds):
        made.append(bandit.decide(drawn.contexts[t], drawn.graphs[t], available=None if masks is None else masks[t]))
        if t >= late:
            due = made[t - late]
            arm = int(bandit.awaited(due)[0])
            bandit.observe(due, {arm: drawn.rewards[t - late, arm]})
        if folder is not None:
            bandit.save(folder / "story.gb")
            bandit = gb.Bandit.load(folder / "story.gb")
    return bandit, made
