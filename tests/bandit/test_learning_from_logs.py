"""`Bandit.learn(log)`: the same as from arrays, in bounded memory, in parts, with the log's probabilities."""

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.bandit import learning_from_logs
from graphbandit.errors import FitError, HorizonError, InputError, LogError, SettingError
from graphbandit.evaluation import Log
from graphbandit.learners.late_graphs import LateGraph
from graphbandit.rounds import Shown
from tests.logs.logged import logged

LINEAR = gb.LinearClass(n_arms=5, dimension=3, parameters="per-arm", intercept=True)
FINITE = gb.FiniteClass(
    lambda x: np.stack([x @ np.ones((3, 5)) * s + 0.5 for s in (0, 0.1, 0.3)], axis=1), n_functions=3, n_arms=5
)
N = 900


@pytest.fixture(scope="module")
def made():
    return logged(n=N)


def bandit(learner, functions=LINEAR, **more):
    return gb.Bandit(
        learner, gb.Problem(n_arms=5, function_class=functions, noise=0.5, **more), graph=gb.graphs.star(5)
    )


def from_arrays(learner, arrays, functions=LINEAR):
    one = bandit(learner, functions)
    one.learn(
        arrays["contexts"],
        arrays["rewards"],
        actions=arrays["actions"],
        probabilities=arrays["probabilities"],
        graphs=gb.FeedbackGraphs.repeat(arrays["graphs"], len(arrays["actions"])),
    )
    return one


LEARNERS = [
    (gb.AdaCBG(), LINEAR),
    (gb.AdaCBG(), FINITE),
    (gb.AdaCBG(gamma="width"), LINEAR),
    (gb.IDSG(), LINEAR),
    (gb.Falcon(), LINEAR),
    (
        gb.Greedy(epoch_growth=5.0),
        gb.GeneralizedLinearClass(n_arms=5, dimension=3, link="logistic", parameters="per-arm"),
    ),
    (gb.LinUCB(alpha=1.0), None),
    (gb.learners.ExploreThenCommit(explore_rounds=100), LINEAR),
]


@pytest.mark.parametrize(("learner", "functions"), LEARNERS, ids=lambda value: type(value).__name__)
def test_the_same_bits_as_from_arrays_in_batches_of_any_size(learner, functions, made, monkeypatch):
    whole = from_arrays(learner, made.arrays, functions)
    monkeypatch.setattr("graphbandit.logs.log.LARGEST_BATCH", 64)
    streamed = bandit(learner, functions)
    streamed.learn(made.log)
    assert streamed.rounds == whole.rounds == N
    shown = made.arrays["contexts"][:20]
    assert np.array_equal(*(one.probabilities(shown) for one in (streamed, whole)))


def test_from_a_folder_and_onwards(made, tmp_path):
    made.log.write(tmp_path / "log")
    one = bandit(gb.AdaCBG())
    decision = one.decide(made.arrays["contexts"][0])
    one.observe(decision, {decision.action: 1.0})
    one.learn(str(tmp_path / "log"))
    one.learn(Log.read(tmp_path / "log")[:100])
    assert one.rounds == 1 + N + 100
    assert one.state.data.count == 1 + sum(
        np.isfinite(made.arrays["rewards"][rows]).sum() for rows in (..., range(100))
    )
    one.learn(made.log[:0])
    assert one.rounds == 1 + N + 100


def test_rounds_of_an_epoch_are_not_kept(made, monkeypatch):
    seen = []
    real = learning_from_logs.Observations.from_masks
    monkeypatch.setattr(
        learning_from_logs.Observations,
        "from_masks",
        lambda *given, **more: seen.append(len(given[0])) or real(*given, **more),
    )
    monkeypatch.setattr("graphbandit.logs.log.LARGEST_BATCH", 64)
    one = bandit(gb.AdaCBG())
    one.learn(made.log)
    assert max(seen) <= 64
    assert sum(seen) == N
    assert not len(one._journal.loop.waiting)


@pytest.mark.parametrize(
    "learner", [gb.learners.Exp3G(), gb.learners.Exp3IX(), gb.learners.Exp3LGCU()], ids=lambda one: type(one).__name__
)
def test_learners_that_weight_rewards_take_the_probabilities_of_the_log(learner, made):
    one = bandit(learner, None)
    one.learn(made.log[:200])
    assert one.rounds == 200
    # by hand: the notes of its own decisions, and q from the log
    state, batch = learner.init(one.problem), made.log[:200].to_batch()
    for t in range(200):
        part = batch.take(slice(t, t + 1))
        shown = Shown(part.contexts, part.graphs)
        decided = learner.decide(state, shown, np.random.default_rng(1))
        observations = gb.Observations.from_masks(
            part.contexts,
            part.revealed,
            part.rewards,
            first_round=t,
            actions=part.actions,
            observation_probabilities=part.q,
            notes=decided.notes,
        )
        state = learner.update(state, observations)
    shown = made.arrays["contexts"][:10]
    expected = learner.decide(
        state, Shown(shown[:1], gb.FeedbackGraphs.repeat(gb.graphs.star(5), 1)), np.random.default_rng(0)
    )
    assert np.allclose(one.probabilities(shown[:1]), expected.probabilities, atol=1e-12)
    # other probabilities, other weights
    arrays = dict(made.arrays) | {"probabilities": np.full((N, 5), 0.2)}
    other = bandit(learner, None)
    other.learn(Log.from_arrays(**arrays)[:200])
    assert not np.allclose(one.probabilities(shown), other.probabilities(shown))


class Forgetful(gb.learners.Uniform):
    """An own learner: it may use probabilities."""


def test_a_log_that_does_not_tell_probabilities(made):
    rows = np.arange(N)
    arrays = dict(made.arrays) | {"probabilities": made.arrays["probabilities"][rows, made.arrays["actions"]]}
    log = Log.from_arrays(**arrays)
    bandit(gb.AdaCBG()).learn(log)  # needs none
    bandit(gb.LinUCB(alpha=1.0), None).learn(log)
    with pytest.raises(LogError, match="Exp3G needs the probability with which a reward was revealed"):
        bandit(gb.learners.Exp3G(), None).learn(log)
    with pytest.raises(LogError, match="Forgetful needs"):
        bandit(Forgetful(), None).learn(log)


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as one,
    ):
        yield one


@pytest.mark.parametrize(("learner", "functions"), [*LEARNERS[:2], *LEARNERS[3:5]])
@pytest.mark.parametrize("n", [N, 511, 512])  # 512 ends an epoch of factor two
def test_parts_on_a_cluster_are_one_pass_to_rounding(learner, functions, n, made, client, tmp_path):
    made.log[:n].write(tmp_path / "log")
    whole, parts = bandit(learner, functions), bandit(learner, functions)
    whole.learn(tmp_path / "log")
    parts.learn(tmp_path / "log", cluster=client)
    assert parts.rounds == whole.rounds == n
    assert parts.state.epoch == whole.state.epoch
    assert parts.state.data.count == whole.state.data.count
    for one, other in zip(*(_arrays(each.state.data) for each in (parts, whole)), strict=True):
        assert np.allclose(one, other, rtol=1e-10, atol=1e-10)
    shown = made.arrays["contexts"][:20]
    assert np.allclose(parts.probabilities(shown), whole.probabilities(shown), atol=1e-6)


def _arrays(data):
    fields = ("losses",) if hasattr(data, "losses") else ("matrices", "moments", "sums")
    return [getattr(data, name) for name in fields]


def test_learners_that_cannot_learn_in_parts_say_so(made, client):
    for learner, functions in (LEARNERS[2], LEARNERS[5], LEARNERS[6], (LateGraph(learner=gb.IDSG()), LINEAR)):
        with pytest.raises(SettingError, match="cannot learn in parts"):
            bandit(learner, functions).learn(made.log, cluster=client)


def test_bad_calls_change_nothing(made):
    one = bandit(gb.AdaCBG())
    with pytest.raises(InputError, match="came with a log"):
        one.learn(made.log, made.arrays["rewards"])
    with pytest.raises(SettingError, match="cluster came without a log"):
        one.learn(made.arrays["contexts"], made.arrays["rewards"], actions=made.arrays["actions"], cluster=object())
    with pytest.raises(InputError, match="the log has 4 arms; expected 5"):
        one.learn(logged(n=5, n_arms=4).log)
    with pytest.raises(LogError, match="is not a log"):
        one.learn("nowhere")
    with pytest.raises(HorizonError):
        bandit(gb.AdaCBG(), horizon=10).learn(made.log)
    named = Log.from_arrays(**dict(made.arrays) | {"arms": list("abcde")})
    problem = gb.Problem(arms=list("abced"), function_class=LINEAR, noise=0.5)
    with pytest.raises(InputError, match="the log's arm 3 is 'd'; expected 'e'"):
        gb.Bandit(gb.AdaCBG(), problem).learn(named)
    features = gb.Problem(arms=5, features={"x": "number"}, function_class="linear", noise=0.5)
    with pytest.raises(InputError, match=r"the log's contexts have shape \(7,\); expected \(3,\)"):
        gb.Bandit(gb.AdaCBG(), features).learn(logged(n=5, dimension=7).log)
    assert one.rounds == 0


def test_a_fit_that_fails_on_the_way_is_put_off(made, monkeypatch):
    calls = []
    real = gb.LinearClass.fit

    def fit(self, data):
        calls.append(data.count)
        if len(calls) == 3:
            raise FitError("no fit today")
        return real(self, data)

    monkeypatch.setattr(gb.LinearClass, "fit", fit)
    one = bandit(gb.AdaCBG())
    one.learn(made.log)
    assert one.postponed == 1
    assert one.rounds == len(made.log)
    assert calls[2] < calls[3] <= calls[-1]  # the next fit has the rewards of the one that failed, and newer ones


def test_a_log_without_contexts():
    log = Log.from_arrays(actions=[0, 1] * 20, probabilities=np.full((40, 2), 0.5), rewards=[1.0, 0.0] * 20)
    one = gb.Bandit(gb.learners.UCBN(), gb.Problem(n_arms=2, noise=0.5))
    one.learn(log)
    assert one.rounds == 40
