"""The one loop: a value that decides, observes and learns, with any learner, any portions and fits that fail."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import FitError, HorizonError, InputError
from graphbandit.learners.loop import Loop
from graphbandit.learners.played import NOTHING, Chain, News
from graphbandit.rounds import Decisions, Shown

ENVIRONMENT = gb.environments.paper(n_arms=6, graph="random", reward_scale=4.0, density=0.2)
INSTANCE = ENVIRONMENT.instance(2)
DRAWN = INSTANCE.rounds(0, 80)
LEARNERS = {
    "AdaCB.G": gb.AdaCBG(),
    "RegCB.G": gb.RegCBG(epoch_growth=1.3),
    "UCB-N": gb.learners.UCBN(),
    "SquareCB": gb.learners.SquareCB(),
    "EXP3-DOM": gb.learners.Exp3DOM(low=-9.0, high=9.0),
    "IDS.G": gb.IDSG(),
}


def news_of(decisions, first):
    rows, arms = np.nonzero(DRAWN.graphs[first : first + len(decisions)].revealed(decisions.action))
    q = decisions.observation_probabilities[rows, arms]
    return News(rows + first, arms, DRAWN.rewards[first + rows, arms], q)


def one_by_one(loop, rng, first, stop):
    made = []
    for t in range(first, stop):
        decisions, loop = loop.decide(DRAWN[t : t + 1].shown, rng)
        loop = loop.observe(news_of(decisions, t))
        made.append(decisions)
    return made, loop


@pytest.mark.parametrize("name", LEARNERS)
def test_playing_is_deciding_and_observing(name):
    loop = Loop.start(LEARNERS[name], INSTANCE.problem(None))
    single, _ = one_by_one(loop, np.random.default_rng(1), 0, 80)
    rng, start, parts = np.random.default_rng(1), 0, []
    while start < 80:
        loop = loop.ready()
        part = DRAWN[start : start + min(loop.playable, 17)]
        made, loop = loop.play(part.shown, part.graphs, part.rewards, rng)
        parts.append(made)
        start += len(part)
    one, other = Decisions.concatenate(single), Decisions.concatenate(parts)
    assert one.probabilities.tobytes() == other.probabilities.tobytes()
    assert one.action.tobytes() == other.action.tobytes()
    assert one.epoch.tolist() == other.epoch.tolist()


@pytest.mark.parametrize("name", LEARNERS)
def test_a_step_leaves_the_loop_it_came_from_as_it_is(name):
    _, loop = one_by_one(Loop.start(LEARNERS[name], INSTANCE.problem(None)), np.random.default_rng(1), 0, 9)
    first, _ = one_by_one(loop, np.random.default_rng(2), 9, 40)
    one_by_one(loop, np.random.default_rng(3), 9, 25)
    again, _ = one_by_one(loop, np.random.default_rng(2), 9, 40)
    assert loop.rounds == 9
    assert [d.probabilities.tobytes() for d in first] == [d.probabilities.tobytes() for d in again]


def test_news_in_any_order_and_form_is_the_same():
    loop = Loop.start(gb.RegCBG(), INSTANCE.problem(None))
    decisions, loop = loop.decide(DRAWN[:4].shown, np.random.default_rng(0))
    news = news_of(decisions, 0)
    in_order = loop.observe(news)
    mixed = loop
    for k in np.random.default_rng(1).permutation(len(news.arms)):
        mixed = mixed.observe(News(*([column[k].item()] for column in news)))
    both = loop.observe(News(*(column[5:] for column in news))).observe(News(*(column[:5].tolist() for column in news)))
    after = [each.decide(DRAWN[4:8].shown, np.random.default_rng(0))[1] for each in (in_order, mixed, both)]
    assert len({one.state.data.losses.tobytes() for one in after}) == 1
    assert {one.state.data.count for one in after} == {len(news.arms)}


def test_a_round_of_another_shape_or_beyond_the_horizon_is_refused():
    loop = Loop.start(gb.Falcon(), INSTANCE.problem(5))
    rng = np.random.default_rng(0)
    _, loop = loop.decide(DRAWN[:5].shown, rng)
    with pytest.raises(HorizonError, match="round 6 was asked for, but the problem's horizon is 5"):
        loop.decide(DRAWN[5:6].shown, rng)
    with pytest.raises(HorizonError):
        loop.ready()
    open_ended = Loop.start(gb.learners.Uniform(), gb.Problem(n_arms=6))
    _, open_ended = open_ended.decide(DRAWN[:1].shown, rng)
    with pytest.raises(InputError, match=r"the context has shape \(2,\); expected \(\d+,\) as before"):
        open_ended.decide(Shown(np.zeros((1, 2)), DRAWN.graphs[:1]), rng)


@dataclass(frozen=True)
class Counted:
    problem: gb.Problem
    rounds: int = 0
    fitted: int = 0


@dataclass(frozen=True, kw_only=True)
class Moody(gb.learners.Learner[Counted]):
    """Epochs of four rounds. A fit to the numbers of rounds in `fails` fails."""

    fails: tuple[int, ...]

    def init(self, problem):
        return Counted(problem)

    def rounds_until_update(self, state):
        return 4

    def choose(self, state, shown, rng):
        p = np.full((len(shown), 6), 1 / 6)
        return Decisions.from_probabilities(p, graphs=shown.graphs, rng=rng, epoch=1 + state.fitted // 4)

    def update(self, state, observations):
        if state.rounds + 4 in self.fails:
            raise FitError(f"no mood for {state.rounds + 4}")
        return replace(self.postpone(state, observations), fitted=state.rounds + 4)

    def postpone(self, state, observations):
        return replace(state, rounds=state.rounds + 4)


def test_the_simulator_puts_off_fits_that_fail_and_counts_them():
    runs = gb.simulate({"moody": Moody(fails=(8, 12)), "even": Moody(fails=())}, ENVIRONMENT, rounds=30, repeats=2)
    assert runs.postponed == {"moody": [2, 2], "even": [0, 0]}
    assert [state.fitted for state in runs.states["moody"]] == [28, 28]
    assert "moody: 4 fits failed" in str(runs)
    assert "even:" not in str(runs)


def test_a_bandit_raises_once_and_goes_on_as_the_simulator_does():
    bandit = gb.Bandit(Moody(fails=(8, 12)), INSTANCE.problem(None))
    errors = []
    for t in range(30):
        try:
            bandit.decide(DRAWN.contexts[t], DRAWN.graphs[t])
        except FitError as error:
            errors.append((t, error.after_round))
            bandit.decide(DRAWN.contexts[t], DRAWN.graphs[t])
    assert errors == [(8, 8), (12, 12)]
    assert (bandit.postponed, bandit.state.fitted, bandit.rounds) == (2, 28, 30)


def test_logs_that_grow_out_of_one_are_their_own():
    one = Chain("ab")
    two, three = one.plus("c"), one.plus("d").plus("e")
    assert ["".join(log) for log in (one, two, three, two.plus("f"))] == ["ab", "abc", "abde", "abcf"]
    assert [len(log) for log in (one, two, three)] == [2, 3, 4]
    assert [*NOTHING.plus("a").plus("b")] == ["a", "b"]
    assert ([*NOTHING.plus("c")], [*NOTHING]) == (["c"], [])
