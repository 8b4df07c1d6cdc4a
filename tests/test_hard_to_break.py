"""A bandit that is interrupted, handed foreign decisions, odd graphs and contexts, or never told a reward."""

import time

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import (
    ForgottenDecisionsWarning,
    GraphError,
    InputError,
    ObservationError,
    SettingError,
    UnknownDecisionError,
)
from graphbandit.graphs import complete
from tests.bandits import content
from tests.fuzz.interrupts import by_signal

# an interrupt that comes inside a callback of the garbage collector is swallowed there, and told as a warning
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

N_ARMS = 3
GRAPH = complete(N_ARMS)


def bandit(learner=None, **settings):
    return gb.Bandit(learner or gb.learners.Uniform(), gb.Problem(n_arms=N_ARMS, noise=0.5), **settings)


def everything(value=1.0):
    return dict.fromkeys(range(N_ARMS), value)


# Interrupts


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def test_an_interrupted_batch_is_decided_or_not(tmp_path):
    contexts, rng = np.zeros((400, 2)), np.random.default_rng(0)

    def fresh():
        one = bandit(identity="same")
        one.observe(one.decide_batch(contexts[:10], GRAPH)[0], everything())
        return one

    before = content(fresh(), tmp_path)
    fresh().decide_batch(contexts, GRAPH)  # a compiler that is interrupted may not recover
    done = fresh()
    duration = seconds(lambda: done.decide_batch(contexts, GRAPH))
    after, stopped = content(done, tmp_path), 0
    for _ in range(60):
        one = fresh()
        stopped += by_signal(lambda one=one: one.decide_batch(contexts, GRAPH), rng.uniform(0.05, 1.05) * duration)
        assert content(one, tmp_path) in (before, after)
    assert stopped > 10


@pytest.mark.parametrize("learner", [gb.learners.UCBN(), gb.learners.Uniform()], ids=lambda one: type(one).__name__)
def test_an_interrupted_loop_has_no_call_half_done(learner, tmp_path):
    """A twin that is told of the same rounds and rewards is the same, whenever the signal comes."""
    rng = np.random.default_rng(1)
    played = 0
    warm = bandit(learner)  # a compiler that is interrupted may not recover
    for _ in range(5):
        warm.observe(warm.decide([0.0, 0.0], GRAPH), everything(0.5))
    for _ in range(60):
        one = bandit(learner, seed=4, identity="twin")
        one.observe(one.decide([0.0, 0.0], GRAPH), everything(0.5))
        rewarded = [0]

        def loop(one=one, rewarded=rewarded):
            while True:
                decision = one.decide([0.0, 0.0], GRAPH)
                one.observe(decision, everything(0.5))
                rewarded[0] = decision.id

        by_signal(loop, rng.uniform(1e-4, 5e-3))
        twin = bandit(learner, seed=4, identity="twin")
        for t in range(one.rounds):
            decision = twin.decide([0.0, 0.0], GRAPH)
            if t not in one.open_decisions:
                twin.observe(decision, everything(0.5))
        assert content(twin, tmp_path) == content(one, tmp_path)
        assert one.rounds - 2 <= rewarded[0] <= one.rounds - 1
        assert len(one.open_decisions) <= 1
        played += one.rounds
    assert played > 60


@pytest.mark.parametrize("n", [1, 2])
def test_numbers_drawn_for_an_interrupted_call_are_drawn_again(n, monkeypatch, tmp_path):
    one, other = bandit(identity="same"), bandit(identity="same")
    for each in (one, other):
        each.decide(graph=GRAPH)

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(type(one._maker), "rounds", interrupted)  # the arms are drawn by then
        with pytest.raises(KeyboardInterrupt):
            one.decide_batch(graphs=[GRAPH] * n)
    assert content(one, tmp_path) == content(other, tmp_path)
    made = [each.decide(graph=GRAPH) for each in (one, other) for _ in range(8)]
    assert [decision.action for decision in made[:8]] == [decision.action for decision in made[8:]]
    assert content(one, tmp_path) == content(other, tmp_path)


def test_a_failing_call_takes_nothing_from_the_random_stream():
    one, other = bandit(identity="a"), bandit(identity="a")
    with pytest.raises(GraphError):
        one.decide_batch(np.zeros((2, 1)), complete(4))
    assert [one.decide([0.0], GRAPH).action for _ in range(9)] == [other.decide([0.0], GRAPH).action for _ in range(9)]


# Decisions of others, and decisions that reveal nothing


def test_a_decision_of_another_bandit_is_refused(tmp_path):
    one, other = bandit(), bandit()
    mine, theirs = one.decide([0.0], GRAPH), other.decide([0.0], GRAPH)
    assert mine.id == theirs.id
    for call in (one.observe, lambda decision, _: one.forget(decision), lambda decision, _: one.awaited(decision)):
        with pytest.raises(UnknownDecisionError, match=f"made by bandit '{other.identity}'; expected one of bandit"):
            call(theirs, everything())
    one.save(tmp_path / "one.gb")
    loaded = gb.Bandit.load(tmp_path / "one.gb")
    assert loaded.identity == one.identity
    loaded.observe(mine, everything())
    one.observe(mine.id, everything())
    assert loaded.open_decisions == one.open_decisions == []


def test_nothing_is_a_fine_answer_where_nothing_is_revealed():
    one = bandit()
    blind = gb.FeedbackGraph.from_edges([], N_ARMS, require_loops=False)
    decision = one.decide([0.0], blind)
    assert len(decision.revealed) == 0
    assert one.open_decisions == []
    one.observe(decision, {})
    with pytest.raises(ObservationError, match="awaits no more rewards: it revealed none"):
        one.observe(decision, {0: 1.0})


# What is shown


def test_a_late_graph_of_another_size_is_refused_and_leaves_no_round_behind(tmp_path):
    functions = gb.LinearClass(n_arms=N_ARMS, dimension=2)
    problem = gb.Problem(n_arms=N_ARMS, function_class=functions, noise=0.5)
    one = gb.Bandit(gb.learners.LateGraph(learner=gb.IDSG()), problem)
    context = np.zeros((N_ARMS, 2))
    one.decide(context, None)
    before = content(one, tmp_path)
    for size in (2, 5):
        with pytest.raises(GraphError, match=f"the graphs have {size} arms; expected 3"):
            one.decide(context, complete(size))
        with pytest.raises(GraphError, match=f"the graphs have {size} arms; expected 3"):
            one.decide(context, gb.ProbabilisticGraph(np.eye(size)))
    with pytest.raises(GraphError, match="available has 2 arms; expected 3"):
        one.decide(context, None, available=[True, True])
    assert content(one, tmp_path) == before
    assert gb.Bandit.load(tmp_path / "content.gb").rounds == 1


@pytest.mark.parametrize("learner", [gb.learners.SquareCB(), gb.SquareCBG(oracle="ridge"), gb.SquareCBG(oracle="ogd")])
def test_no_context_spoils_an_online_oracle(learner):
    one = gb.Bandit(learner, gb.Problem(n_arms=2))
    graph = complete(2)
    for size in (1e155, 1e200, 1e8):
        with pytest.raises(InputError, match=r"a context has length (inf|1\.4.*e\+.*); .* expects at most 1e\+06"):
            one.decide([size, size], graph)
    for context in ([7e5, -7e5], [1e-25, 1.0], [1.0, 1.0], [1e5, 3.0]) * 5:
        one.observe(one.decide(context, graph), {0: 1.0, 1: 0.0})
    assert one.decide([1.0, 2.0], graph).probabilities.sum() == pytest.approx(1.0)


# Decisions that never get rewards


def test_the_oldest_decisions_are_forgotten_and_counted(tmp_path):
    one = bandit(max_open=5)
    made = [one.decide([0.0], GRAPH) for _ in range(5)]
    with pytest.raises(ForgottenDecisionsWarning, match="more than max_open = 5 decisions await rewards"):
        one.decide([0.0], GRAPH)
    assert (one.rounds, one.forgotten) == (5, 0)  # a warning made an error has changed nothing
    with pytest.warns(ForgottenDecisionsWarning):
        made += [one.decide([0.0], GRAPH)]
    made += [one.decide([0.0], GRAPH) for _ in range(3)]  # it warns once
    one.observe(made[5], everything())
    one.decide_batch(np.zeros((3, 1)), GRAPH)
    assert one.open_decisions == [7, 8, 9, 10, 11]
    assert one.forgotten == 6
    with pytest.raises(ObservationError, match="or is one of the 6 forgotten because of max_open"):
        one.observe(made[6], everything())
    one.save(tmp_path / "one.gb")
    loaded = gb.Bandit.load(tmp_path / "one.gb")
    loaded.decide([0.0], GRAPH)
    assert loaded.open_decisions == [8, 9, 10, 11, 12]
    assert (loaded.forgotten, loaded.rounds) == (7, 13)
    loaded.decide_batch(np.zeros((20, 1)), GRAPH)
    assert loaded.open_decisions == [28, 29, 30, 31, 32]
    assert loaded.forgotten == 27


def test_decisions_are_forgotten_after_a_number_of_rounds():
    one = bandit(forget_after=3)
    first = one.decide([0.0], GRAPH)
    one.observe(first, {0: 1.0})
    for _ in range(2):
        one.decide([0.0], GRAPH)
    assert one.open_decisions == [0, 1, 2]
    one.decide([0.0], GRAPH)
    assert one.open_decisions == [1, 2, 3]
    assert one.forgotten == 1


def test_without_limits_nothing_is_forgotten_early():
    one = bandit()
    one.decide_batch(np.zeros((3000, 1)), GRAPH)
    assert len(one.open_decisions) == 3000
    assert one.forgotten == 0


# Epochs that hardly grow


def test_the_schedule_of_hardly_growing_epochs_is_the_plain_one():
    for growth in (1.0001, 1.01, 1.2, 1.5, 2.0, 2.5, 3.7):
        schedule, end = gb.learners.EpochSchedule(growth=growth), 0
        for m in range(1, 400):
            if end > 2**60:
                break
            end = max(end + 1, round(growth**m))
            assert schedule.tau(m) == end
            assert schedule.epochs(end) == m
    assert gb.learners.EpochSchedule(growth=1 + 1e-9).tau(10**8) == 10**8
    far = gb.learners.EpochSchedule()
    assert far.tau(10**12) > far.tau(10**12 - 1) >= 2**62
    assert gb.learners.EpochSchedule(growth=1e160).tau(1) >= 2**62


def test_an_epoch_costs_no_more_calls_than_one_before():
    """Powers of the growth that are worked out for a round do not grow in number."""
    schedule = gb.learners.EpochSchedule(growth=1.0001)
    counted = []

    class Growth(float):
        def __pow__(self, exponent):
            counted.append(exponent)
            return float(self) ** exponent

    object.__setattr__(schedule, "growth", Growth(1.0001))
    schedule.tau(10_000)
    assert len(counted) <= 1


def test_a_bandit_with_a_large_growth_decides():
    functions = gb.LinearClass(n_arms=N_ARMS, dimension=2)
    one = gb.Bandit(gb.Falcon(epoch_growth=1e160), gb.Problem(n_arms=N_ARMS, function_class=functions, noise=0.5))
    for _ in range(3):
        one.decide(np.zeros((N_ARMS, 2)), GRAPH)
    assert one.rounds == 3


# Files


def test_a_file_with_many_arms_and_open_decisions_is_read_in_arrays(tmp_path):
    """No Python object for each arm of each open decision: what `load` allocates stays near the size of the file."""
    import tracemalloc

    n_arms = 20_000
    one = gb.Bandit(gb.learners.Uniform(), gb.Problem(n_arms=n_arms))
    graph = gb.FeedbackGraph.from_edges([(0, 1)], n_arms, add_loops=True)
    for _ in range(50):
        one.decide([0.0], graph)
    one.save(tmp_path / "one.gb")
    tracemalloc.start()
    loaded = gb.Bandit.load(tmp_path / "one.gb")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert loaded.open_decisions == one.open_decisions
    assert peak < 1_000_000


# What random trials have found (`python -m tests.fuzz`)


def test_odd_arguments_are_told_apart():
    problem = gb.Problem(n_arms=N_ARMS, function_class=gb.LinearClass(n_arms=N_ARMS, dimension=2), noise=0.5)
    late = gb.Bandit(gb.learners.LateGraph(learner=gb.IDSG()), problem)
    with pytest.raises(InputError, match="available is a single value"):
        late.decide(np.zeros((N_ARMS, 2)), None, available=0.5)
    with pytest.raises(InputError, match="decisions is a NoneType; expected a list"):
        bandit().take(None)
    with pytest.raises(SettingError, match="the number of new arms is 9223372036854775808; expected a whole number of"):
        bandit().add_arms(2**63)
