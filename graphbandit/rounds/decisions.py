"""What a learner decides: a batch of decisions with everything that explains them, and the one builder of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from graphbandit.base.checks import numbers, setting_choice, setting_integer
from graphbandit.base.program_constants import SOLVERS, SUMS_TO_ONE, SolverName
from graphbandit.base.shapes import Bool, Float, Int, Shaped
from graphbandit.base.trusted import trusted
from graphbandit.errors import GraphError, InputError
from graphbandit.rounds.drawn_arms import draw
from graphbandit.rounds.shown import Graphs, Shown
from graphbandit.rounds.words import BEST, Words, arrays_of

_NONE: Float[np.ndarray, " 0"] = np.empty(0)


@dataclass(frozen=True, kw_only=True, eq=False)
class Decisions:
    """A batch of n decisions, each with everything that explains it.

    The constructor trusts its arrays; `from_probabilities` checks them and fills in what is not given.

    - `action`, `probability`: the arm that was drawn, and its probability.
    - `probabilities`: p, the probabilities of all arms.
    - `observation_probabilities`: q(a), the sum of p(j) over the arms j that reveal a.
    - `best`: the arm of the highest estimate.
    - `gaps`: c(a) = v(best) - v(a), how much worse than the best each arm looks by the estimates v.
    - `baseline`: p-tilde, the distribution that the sampling program improves on.
    - `candidates`: A(x; F_m), as a mask.
    - `exploration_set`: S, as a mask.
    - `gamma`: the exploration parameter.
    - `epoch`: m.
    - `objective`: sum_a p(a) c(a), the value of the sampling program (2).
    - `duality_gap`: the program's certified relative gap; nan if the learner solves no program.
    - `solver`: the number of the solver that found p, in `SOLVERS`.
    - `coverage_factor`: the share of the demanded coverage that the graph allows; 1 (default) unless a weakly
      observable graph reveals too little (`docs/weak-graphs.md`).
    - `notes`: numbers that the learner wants back with the rewards of the round, as `Observations.notes`; none by
      default.
    - `told`: what the learner says in its own words, for `Decision.explain`; nothing by default. A mapping from names
      to arrays: numbers or a mask of all arms, (n, arms), or for each round a number or an arm, (n,), where an arm is a
      whole number and -1 is none.
    """

    action: Int[np.ndarray, " n"]
    probability: Float[np.ndarray, " n"]
    probabilities: Float[np.ndarray, "n arms"]
    observation_probabilities: Float[np.ndarray, "n arms"]
    best: Int[np.ndarray, " n"]
    gaps: Float[np.ndarray, "n arms"]
    baseline: Float[np.ndarray, "n arms"]
    candidates: Bool[np.ndarray, "n arms"]
    exploration_set: Bool[np.ndarray, "n arms"]
    gamma: Float[np.ndarray, " n"]
    epoch: Int[np.ndarray, " n"]
    objective: Float[np.ndarray, " n"]
    duality_gap: Float[np.ndarray, " n"]
    solver: Int[np.ndarray, " n"]
    coverage_factor: Float[np.ndarray, " n"] = field(default_factory=lambda: _NONE)
    notes: Float[np.ndarray, "n notes"] = field(default_factory=lambda: _NONE)
    told: Mapping[str, Shaped[np.ndarray, "n ..."]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.coverage_factor is _NONE:
            object.__setattr__(self, "coverage_factor", np.ones(len(self.action)))
        if self.notes is _NONE:
            object.__setattr__(self, "notes", np.empty((len(self.action), 0)))

    @classmethod
    def from_probabilities(
        cls,
        probabilities: "npt.ArrayLike",
        *,
        graphs: Graphs | None,
        rng: np.random.Generator,
        epoch: int,
        available: Bool[np.ndarray, "n arms"] | None = None,
        best: Int[np.ndarray, " n"] | None = None,
        gaps: Float[np.ndarray, "n arms"] | None = None,
        candidates: Bool[np.ndarray, "n arms"] | None = None,
        exploration_set: Bool[np.ndarray, "n arms"] | None = None,
        baseline: Float[np.ndarray, "n arms"] | None = None,
        gamma: Float[np.ndarray, " n"] | float | None = None,
        notes: Float[np.ndarray, "n notes"] | None = None,
        duality_gap: Float[np.ndarray, " n"] | float | None = None,
        solver: SolverName = "none",
        told: Mapping[str, Shaped[np.ndarray, "n ..."]] | None = None,
    ) -> "Decisions":
        """Decide n rounds by probabilities: arm a of round t is played with probability `probabilities[t, a]`.

        In each round, one uniform number of `rng` draws the arm by inverse transform. q follows from the graphs,
        `objective` from the gaps. Negative probabilities, sums other than 1, and probability on arms not on offer raise
        InputError.

        - `probabilities`: p, shape (n, arms).
        - `graphs`, `available`: what the learner was shown; `available` None (default): all arms.
        - `rng`: draws the arms.
        - `epoch`: the learner's epoch, counted from 1.
        - `best`: the arm that looks best; None (default): the most likely one.
        - `gaps`: how much worse each arm looks than `best`; None (default): 0.
        - `candidates`, `exploration_set`: masks of arms; None (default): all on offer.
        - `baseline`: the probabilities that a program improved on; None (default): p.
        - `gamma`, `duality_gap`: one number, or one for each round; None (default): nan.
        - `notes`: numbers that the learner gets back with the rewards, one row for each round; None (default): none.
        - `solver`: one of `SOLVERS`; "none" by default.
        - `told`: what `Decision.explain` prints beside the rest, a mapping from names to arrays: numbers or a mask of
          all arms, (n, arms), or one number for each round, (n,); None (default): nothing. `best`, `candidates`,
          `exploration_set` and `gamma` are printed, too, if they are given.

        >>> from graphbandit import FeedbackGraphs, graphs
        >>> stars = FeedbackGraphs.repeat(graphs.star(3, hub=0), 2)
        >>> p = [[0.2, 0.8, 0.0], [0.2, 0.8, 0.0]]
        >>> decisions = Decisions.from_probabilities(p, graphs=stars, rng=np.random.default_rng(2), epoch=1)
        >>> decisions.action, decisions.probability, decisions.observation_probabilities[0]
        (array([1, 1]), array([0.8, 0.8]), array([1. , 1. , 0.2]))
        """
        if not isinstance(graphs, Graphs):
            raise GraphError(f"graphs is a {type(graphs).__name__}; expected FeedbackGraphs or ProbabilisticGraphs")
        if not isinstance(rng, np.random.Generator):
            raise InputError(f"rng is {rng!r}; expected the numpy.random.Generator that `choose` was given")
        setting_integer("epoch", epoch, at_least=0)
        n, n_arms = len(graphs), graphs.n_arms
        p = np.ascontiguousarray(numbers("probabilities", probabilities, has="have"))
        if p.shape != (n, n_arms):
            raise InputError(f"probabilities have shape {p.shape}; expected ({n}, {n_arms})")
        _check_distributions(p, available)
        setting_choice("solver", solver, SOLVERS)
        given: dict[str, Any] = {"best": best, "gaps": gaps, "candidates": candidates}
        given |= {"exploration_set": exploration_set, "baseline": baseline, "notes": notes}
        _check_shapes(given, n, n_arms)
        given |= {"gamma": None if gamma is None else _column(gamma, n)}
        named = {name: given[field] for name, field in WORDS.items() if given[field] is not None}
        words = named if told is None else {**named, **told}
        _check_words(words, n, n_arms)
        actions, observed = draw(p, graphs, rng.random(n))
        if candidates is None or exploration_set is None:
            offered = np.ones((n, n_arms), dtype=np.bool_) if available is None else np.array(available)
            candidates = offered if candidates is None else candidates
            exploration_set = offered if exploration_set is None else exploration_set
        return cls.drawn(
            action=actions,
            probabilities=p,
            observation_probabilities=observed,
            best=p.argmax(axis=1) if best is None else best,
            gaps=np.zeros((n, n_arms)) if gaps is None else gaps,
            candidates=candidates,
            exploration_set=exploration_set,
            epoch=epoch,
            baseline=baseline,
            gamma=gamma,
            duality_gap=duality_gap,
            solver=solver,
            notes=notes,
            told=words,
        )

    @classmethod
    def drawn(
        cls,
        *,
        action: Int[np.ndarray, " n"],
        probabilities: Float[np.ndarray, "n arms"],
        observation_probabilities: Float[np.ndarray, "n arms"],
        best: Int[np.ndarray, " n"],
        gaps: Float[np.ndarray, "n arms"],
        candidates: Bool[np.ndarray, "n arms"],
        epoch: int,
        exploration_set: Bool[np.ndarray, "n arms"] | None = None,
        baseline: Float[np.ndarray, "n arms"] | None = None,
        gamma: Float[np.ndarray, " n"] | float | None = None,
        duality_gap: Float[np.ndarray, " n"] | float | None = None,
        solver: SolverName = "none",
        notes: Float[np.ndarray, "n notes"] | None = None,
        told: Mapping[str, Shaped[np.ndarray, "n ..."]] | None = None,
    ) -> "Decisions":
        """Decisions whose arms are already drawn. The arrays are trusted; fields that are not given are filled in.

        - `action`: the arms that were drawn.
        - `observation_probabilities`: q, shape (n, arms).
        - `exploration_set`: None (default): the arms that may be played.

        All other settings are those of `from_probabilities`.
        """
        n = len(action)
        made = trusted(
            cls,
            {
                "action": action,
                "probability": probabilities[0].take(action) if n == 1 else probabilities[np.arange(n), action],
                "probabilities": probabilities,
                "observation_probabilities": observation_probabilities,
                "best": best,
                "gaps": gaps,
                "baseline": probabilities if baseline is None else baseline,
                "candidates": candidates,
                "of_epoch": epoch,
                "notes": no_notes(n) if notes is None else notes,
                "told": {} if told is None else told,
            },
        )
        if exploration_set is not None:
            made.__dict__["exploration_set"] = exploration_set
        if solver != "none":
            made.__dict__["solver"] = _column(SOLVERS.index(solver), n)
        if gamma is not None:
            made.__dict__["gamma"] = _column(gamma, n)
        if duality_gap is not None:
            made.__dict__["duality_gap"] = _column(duality_gap, n)
        return made

    def __getattr__(self, name: str) -> Any:
        """A field that is computed when it is first asked for, because few decisions are explained.

        Decisions that a kernel has made are `trusted` with the fields that every caller asks for, the epoch as
        `of_epoch`, what the kernel has filled as `outcome`, and how to find each field in it as `columns`. Fields that
        are not there get the defaults of `drawn`.
        """
        known = self.__dict__
        columns = known.get("columns")
        if columns is not None and name in columns:
            value = columns[name](known["outcome"])
        elif name in _LATE:
            value = _LATE[name](self)
        else:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        known[name] = value
        return value

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in (*ARRAYS, "told")}

    def check(self, shown: Shown, n_arms: int) -> None:
        """Raise InputError unless these decisions fit the rounds shown: arms on offer, drawn from distributions.

        - `shown`: what the learner was shown.
        - `n_arms`: K.
        """
        n = len(shown)
        if self.action.shape != (n,) or self.probabilities.shape != (n, n_arms):
            raise InputError(
                f"the decisions have actions of shape {self.action.shape} and probabilities of shape "
                f"{self.probabilities.shape}; expected ({n},) and ({n}, {n_arms})"
            )
        names = ("best", "gaps", "candidates", "exploration_set", "baseline", "notes", "observation_probabilities")
        _check_shapes({name: getattr(self, name) for name in names}, n, n_arms)
        _check_words(self.told, n, n_arms)
        _check_distributions(self.probabilities, shown.available)
        if self.action.dtype.kind not in "iu" or not ((self.action >= 0) & (self.action < n_arms)).all():
            raise InputError(f"the decisions have actions {self.action[:8].tolist()}; expected arms 0 to {n_arms - 1}")
        drawn = self.probabilities[np.arange(n), self.action]
        if not ((drawn > 0) & (drawn == self.probability)).all():
            t = int(np.argmin((drawn > 0) & (drawn == self.probability)))
            raise InputError(
                f"round {t} of the batch plays arm {self.action[t]} of probability {drawn[t]} and says "
                f"{self.probability[t]}; expected the probability of the arm, above 0"
            )

    def __len__(self) -> int:
        return len(self.action)

    def __getitem__(self, index: slice) -> "Decisions":
        told = {name: rows[index] for name, rows in self.told.items()}
        return Decisions(**{name: getattr(self, name)[index] for name in ARRAYS}, told=told)

    def first_arms(self, n_arms: int) -> "Decisions":
        """The same decisions with the first arms only; the other arms must not have been playable."""
        cut = {name: getattr(self, name) for name in ARRAYS}
        cut |= {name: rows[:, :n_arms] for name, rows in cut.items() if rows.ndim == 2 and name != "notes"}
        told = {name: rows[:, :n_arms] if rows.ndim == 2 else rows for name, rows in self.told.items()}
        return Decisions(**cut, told=told)

    def telling(self, words: Words) -> "Decisions":
        """The same decisions with these words, which are trusted."""
        known = self.__dict__.copy()
        known.pop("told", None)
        known["words"] = words
        return trusted(Decisions, known)

    def seen_with(self, observation_probabilities: Float[np.ndarray, "n arms"]) -> "Decisions":
        """The same decisions with these observation probabilities, which are trusted."""
        return trusted(Decisions, self.__dict__ | {"observation_probabilities": observation_probabilities})

    @classmethod
    def concatenate(cls, parts: "list[Decisions]") -> "Decisions":
        """Several batches as one."""
        if len(parts) == 1:
            return parts[0]
        told = {name: _joined_words(name, parts) for part in parts for name in part.told}
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in ARRAYS}, told=told)

    def round(self, i: int) -> dict[str, Any]:
        """Round i alone: field name to scalar or (K,) array; `exploration_set` and `candidates` as masks; no `told`."""
        return {name: getattr(self, name)[i] for name in ARRAYS}


WORDS = {BEST: "best", "candidates": "candidates", "exploration set": "exploration_set", "gamma": "gamma"}
"""Fields by their names in words: a learner's words have those that it gives."""

ARRAYS = tuple(f.name for f in fields(Decisions) if f.name != "told")
"""The fields that are arrays with a row a round."""


Columns = Mapping[str, Callable[[Any], Shaped[np.ndarray, "n ..."]]]
"""Fields of `Decisions`, and how each is taken out of what a kernel has filled."""

_NO_NOTES = np.empty((1, 0))


def no_notes(n: int) -> Float[np.ndarray, "n 0"]:
    """The notes of n rounds for which a learner notes nothing down."""
    return _NO_NOTES if n == 1 else np.empty((n, 0))


def decisions_of_kernel(
    action: Int[np.ndarray, " n"],
    probability: Float[np.ndarray, " n"],
    observed: Float[np.ndarray, "n arms"],
    outcome: Any,
    columns: Columns,
    known: dict[str, Any],
) -> Decisions:
    """Decisions that a kernel has filled; they are trusted.

    - `action`, `probability`, `observed`: the arms drawn, their probabilities, and q, which may have gaps between rows.
    - `outcome`, `columns`: what the kernel has filled, and how the fields that explain a decision are found in it.
    - `known`: other fields, such as `of_epoch`, `words` or `candidates`; `notes` if there are any. The rest is added.
    """
    known["action"], known["probability"] = action, probability
    known["observation_probabilities"] = observed if len(action) == 1 else np.ascontiguousarray(observed)
    known["outcome"], known["columns"] = outcome, columns
    if "notes" not in known:
        known["notes"] = no_notes(len(action))
    return trusted(Decisions, known)


_LATE: dict[str, Callable[[Decisions], Any]] = {
    "gamma": lambda made: np.full(len(made), np.nan),
    "objective": lambda made: (made.probabilities * made.gaps).sum(axis=1),
    "duality_gap": lambda made: np.full(len(made), np.nan),
    "coverage_factor": lambda made: np.ones(len(made)),
    "candidates": lambda made: np.ones(made.probabilities.shape, dtype=np.bool_),
    "epoch": lambda made: _epochs(made.__dict__, len(made)),
    "exploration_set": lambda made: made.probabilities > 0.0,
    "solver": lambda made: np.full(len(made), SOLVERS.index("none")),
    "notes": lambda made: no_notes(len(made)),
    "told": lambda made: arrays_of(made.__dict__.get("words", {}), made),
    "baseline": lambda made: made.probabilities,
}
"""The value of a field that was not given."""


def _epochs(known: dict[str, Any], n: int) -> Int[np.ndarray, " n"]:
    """The epoch of each round: `of_epoch`; or, where each round is an epoch by itself, counted on from `rounds`."""
    return np.full(n, known["of_epoch"]) if "of_epoch" in known else known["rounds"] + np.arange(1, n + 1)


def _column(value: Any, n: int) -> Any:
    """One number a round."""
    if isinstance(value, np.ndarray) and value.ndim:
        return value
    return np.array([value]) if n == 1 else np.full(n, value)


def _check_distributions(p: Float[np.ndarray, "n arms"], available: Bool[np.ndarray, "n arms"] | None) -> None:
    """Raise InputError unless every round has a distribution over its available arms: kernels trust it."""
    good = (p >= 0).all(axis=1) & (np.abs(p.sum(axis=1) - 1.0) <= SUMS_TO_ONE)
    if available is not None:
        if available.shape != p.shape:
            raise InputError(f"available has shape {available.shape}; expected {p.shape}")
        good &= (available | (p == 0)).all(axis=1)
    if not good.all():
        t = int(np.argmin(good))
        elsewhere = 0.0 if available is None else p[t][~available[t]].sum()
        raise InputError(
            f"the probabilities of round {t} of the batch have smallest entry {p[t].min():g}, sum {p[t].sum():.12g} "
            f"and {elsewhere:g} on arms not available; expected a distribution over those available"
        )


def _check_words(told: Mapping[str, Any], n: int, n_arms: int) -> None:
    """Raise InputError unless all words are numbers, masks or arms, of a round or of all its arms."""
    for name, words in told.items():
        shape, kind = np.shape(words), getattr(getattr(words, "dtype", None), "kind", "")
        if shape not in ((n, n_arms), (n,)) or not kind or kind not in ("biuf" if len(shape) == 2 else "iuf"):
            raise InputError(
                f"{name} has shape {shape} and type {getattr(words, 'dtype', type(words).__name__)}; expected an array "
                f"of numbers or booleans of shape {(n, n_arms)}, or of numbers of shape {(n,)}"
            )


def _joined_words(name: str, parts: list[Decisions]) -> Shaped[np.ndarray, "n ..."]:
    """Words of several batches; batches that say nothing under this name get nan, no arm, or no arms."""
    kind = next(part.told[name] for part in parts if name in part.told)
    nothing = {"f": np.nan, "i": -1}.get(kind.dtype.kind, 0)
    rows = [
        part.told[name] if name in part.told else np.full((len(part), *kind.shape[1:]), nothing, kind.dtype)
        for part in parts
    ]
    return np.concatenate(rows)


def _check_shapes(arrays: dict[str, Any], n: int, n_arms: int) -> None:
    """Raise InputError unless each array that is given has a row a round, and a column an arm where it should."""
    for name, array in arrays.items():
        if array is None:
            continue
        shape = np.shape(array)
        wanted = (n,) if name == "best" else (n, shape[-1] if name == "notes" and len(shape) == 2 else n_arms)
        if shape != wanted:
            raise InputError(f"{name} has shape {shape}; expected {wanted}")
