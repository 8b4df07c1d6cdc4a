"""A PyTorch module as the oracle: trained from scratch each time, on a device, the same way every time."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from graphbandit.base.array_types import Contexts, ObservationIndices, PerObservation
from graphbandit.base.checks import setting_boolean, setting_choice, setting_integer, setting_number
from graphbandit.base.extras import imported
from graphbandit.base.shapes import Float
from graphbandit.errors import SettingError
from graphbandit.function_classes.base import FIXED_NUMBER
from graphbandit.function_classes.devices import DeviceName, device_of, private_randomness
from graphbandit.function_classes.ensemble import EnsembleFunctionClass
from graphbandit.function_classes.fits import FitReport, RefitData
from graphbandit.function_classes.from_scratch import BLOCK, PairArms, PairRows, PairValues
from graphbandit.function_classes.trained_modules import TrainedModules, evaluated
from graphbandit.function_classes.training import Examples, Training, train_alone, train_together, why_not_together

if TYPE_CHECKING:
    import torch


class Trained(NamedTuple):
    """A trained module, as one of those that were trained with it."""

    together: TrainedModules
    which: int

    @property
    def module(self) -> "torch.nn.Module":
        """The module itself, on the processor."""
        return self.together.modules[self.which]


class TorchClass(EnsembleFunctionClass[Trained]):
    """The functions that a module can learn, by AdamW on squared errors.

    ``TorchClass(lambda: nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 3)), n_arms=3, dimension=5)``

    Training always starts from scratch. The version space is an ensemble of refits, each with weights of its own and
    with observations drawn with replacement. Initial weights, batches and dropout follow `seed`, the number of
    observations and the number of the refit, and PyTorch's own generators are left as they were; so the same data gives
    the same module on the same machine and device with the same number of threads. Training is one at a time in a
    process. `device` and `batched` are not part of what a saved file asks for: they change the last bits, and dropout's
    random numbers, and nothing else.

    - `make`: is called for every fit and returns a new module with random weights, on the processor. The module takes
      contexts of shape (n, d) to values of all arms (n, K); with `arm_contexts` it takes those of single arms (n, d) to
      their values (n,) or (n, 1).
    - `n_arms`: K.
    - `dimension`: d, the length of a context, or of an arm's row of it.
    - `arm_contexts`: whether a round has a context for each arm; False by default.
    - `members`: how many refits the ensemble has, 5 by default; `RegressorClass` has 20, as most regressors are fitted
      faster.
    - `passes`: how often training goes through all observations, 100 by default.
    - `batch_size`: observations in one step of training, 64 by default.
    - `learning_rate`, `weight_decay`: AdamW's, 0.01 and 0 by default.
    - `device`: where modules are trained and evaluated: "cpu" (default), "cuda" (a GPU, or SettingError), or "auto", a
      GPU where there is one.
    - `batched`: True (default): the refits are trained in one batched computation, which some modules cannot be part
      of, such as recurrent ones; False: one after the other.
    - `low`, `high`: the range of mean rewards, widened to the rewards seen; None (default): that of the rewards seen,
      [0, 1] before any.
    - `entropy`: as in `RegressorClass`; None (default): log(members + 1).
    - `seed`: of initial weights, batches and dropout; 0 by default.
    - `on_fit`: is called with a `FitReport` after each fit; None (default): nothing is.
    - `factors`: known numbers above 0, one for each arm, as in `GeneralizedLinearClass`; None (default): none.
    """

    def __init__(
        self,
        make: Callable[[], "torch.nn.Module"],
        *,
        n_arms: int,
        dimension: int,
        arm_contexts: bool = False,
        members: int = 5,
        passes: int = 100,
        batch_size: int = 64,
        learning_rate: float = 1e-2,
        weight_decay: float = 0.0,
        device: DeviceName = "cpu",
        batched: bool = True,
        low: float | None = None,
        high: float | None = None,
        entropy: float | None = None,
        seed: int = 0,
        on_fit: Callable[[FitReport], None] | None = None,
        factors: "npt.ArrayLike | None" = None,
    ) -> None:
        # RegressorClass hands over the same list: each class of fits shows all of its settings, with its own defaults
        super().__init__(
            n_arms=n_arms,
            dimension=dimension,
            arm_contexts=arm_contexts,
            members=members,
            low=low,
            high=high,
            entropy=entropy,
            seed=seed,
            on_fit=on_fit,
            fewest=1,
            fewest_of_arm=0 if arm_contexts else 1,
            factors=factors,
        )
        self._training = Training(
            passes=setting_integer("passes", passes, at_least=1),
            batch_size=setting_integer("batch_size", batch_size, at_least=1),
            learning_rate=setting_number("learning_rate", learning_rate, above=0.0),
            weight_decay=setting_number("weight_decay", weight_decay, at_least=0.0),
        )
        setting_choice("device", device, get_args(DeviceName))
        setting_boolean("batched", batched)
        self._device, self._batched = device, batched
        self._make = make
        imported("torch", "torch", "TorchClass needs PyTorch")
        device_of(device)
        self._description = repr(self.new_module())
        if batched and self._members > 1 and (reason := why_not_together(make, self._dimension)):
            raise SettingError(
                f"modules such as {self._description} cannot be trained in one batch: {reason}; "
                "expected batched=False, which trains one after the other"
            )

    def __repr__(self) -> str:
        return f"TorchClass({self._make!r}, n_arms={self.n_arms}, dimension={self._dimension})"

    def __external__(self) -> dict[str, Any]:
        """Also the module's text and its own settings."""
        return super().__external__() | {
            "module": self._description,
            "passes": self._training.passes,
            "batch_size": self._training.batch_size,
            "learning_rate": self._training.learning_rate,
            "weight_decay": self._training.weight_decay,
        }

    def grown(self, n_arms: int, arm_features: Float[np.ndarray, "arms d"] | None) -> "TorchClass":
        """Always raises: the module has an output for each arm, or takes the contexts of a fixed number of arms."""
        if self._arm_contexts:
            raise SettingError(FIXED_NUMBER)
        raise SettingError(
            f"TorchClass cannot take more arms: its module has an output for each of {self.n_arms} arms; expected a "
            "RegressorClass, or a new bandit with a larger module, which learns from past rows"
        )

    @property
    def name(self) -> str:
        """The module's."""
        return self._description.split("(", 1)[0]

    @property
    def device(self) -> "torch.device":
        """Where modules are trained and evaluated; SettingError if it is not there."""
        return device_of(self._device)

    def _groups(self) -> list[tuple[int, ...]]:
        """The estimate alone, and all refits together."""
        return [(0,), tuple(range(1, self._members + 1))] if self._batched else super()._groups()

    def fit_number(self, data: RefitData, targets: PerObservation, number: int, rng: np.random.Generator) -> Trained:
        """A new module trained on all observations, or on as many drawn with replacement."""
        index, seed = _drawn(len(data), number, rng)
        module = train_alone(self._make, _examples(data, targets), index, self._training, seed, self.device)
        return Trained(self.modules_of([module]), 0)

    def fit_numbers(
        self, data: RefitData, targets: PerObservation, numbers: tuple[int, ...], rngs: list[np.random.Generator]
    ) -> list[Trained]:
        """As many new modules, trained in one batched computation."""
        if len(numbers) == 1:
            return super().fit_numbers(data, targets, numbers, rngs)
        drawn = [_drawn(len(data), number, rng) for number, rng in zip(numbers, rngs, strict=True)]
        indices, seeds = np.stack([index for index, _ in drawn]), [seed for _, seed in drawn]
        examples = _examples(data, targets)
        together = self.modules_of(train_together(self._make, examples, indices, self._training, seeds, self.device))
        return [Trained(together, i) for i in range(len(numbers))]

    def modules_of(self, modules: "list[torch.nn.Module]") -> TrainedModules:
        """Modules as functions of this class."""
        return TrainedModules(modules, outputs=1 if self._arm_contexts else self.n_arms)

    def pair_values(self, function: Trained, rows: PairRows, arms: PairArms, *, most: int = BLOCK) -> PairValues:
        """The arm's value among the module's answers."""
        values = function.together.values((function.which,), rows, self.device, most=most)[:, 0]
        picked: PairValues = values[np.arange(len(arms)), 0 if self._arm_contexts else arms]
        return picked

    def arm_values(self, functions: list[Trained], contexts: Contexts) -> Float[np.ndarray, "n functions arms"]:
        """The modules' answers; those that were trained together are evaluated side by side, too."""
        values = np.empty((len(contexts), len(functions), self.n_arms))
        rows, device = contexts.reshape(-1, self._dimension), self.device
        for together in dict.fromkeys(function.together for function in functions):
            places = [i for i, function in enumerate(functions) if function.together is together]
            found = together.values(tuple(functions[i].which for i in places), rows, device)
            if self._arm_contexts:
                found = found.reshape(len(contexts), self.n_arms, len(places)).transpose(0, 2, 1)
            values[:, places] = found
        return values

    def new_module(self) -> "torch.nn.Module":
        """A module that is not trained; SettingError if what `make` returns does not fit the class."""
        import torch

        if isinstance(self._make, torch.nn.Module) or not callable(self._make):
            raise SettingError(f"make is {self._make!r}; expected a callable that returns a new module at each call")
        with private_randomness(0):
            module = self._make()
            if not isinstance(module, torch.nn.Module) or not list(module.parameters()):
                raise SettingError(f"make returned {module!r}; expected a torch.nn.Module that has parameters")
            elsewhere = {weights.device.type for weights in module.parameters()} - {"cpu"}
            if elsewhere:
                expected = "one made on the processor; device='cuda' is what moves it"
                raise SettingError(f"make returned a module on {', '.join(sorted(elsewhere))}; expected {expected}")
            module.eval()
            try:
                shape = evaluated(module, np.zeros((2, self._dimension))).shape
            except Exception as error:  # whatever somebody else's code may raise
                expected = f"one that takes contexts of shape (2, {self._dimension})"
                raise SettingError(f"the module is {module!r}; expected {expected}: {error}") from error
        if shape not in ([(2,), (2, 1)] if self._arm_contexts else [(2, self.n_arms)]):
            expected = "(2,) or (2, 1)" if self._arm_contexts else f"(2, {self.n_arms})"
            raise SettingError(f"the module takes 2 contexts to values of shape {shape}; expected {expected}")
        return module


def _drawn(count: int, number: int, rng: np.random.Generator) -> tuple[ObservationIndices, int]:
    """Which observations a fit is of, and the seed of its weights and batches."""
    index = np.arange(count) if number == 0 else np.sort(rng.integers(count, size=count))
    return index, int(rng.integers(2**62))


def _examples(data: RefitData, targets: PerObservation) -> Examples:
    columns = data.columns
    return Examples(rows=columns.contexts, arms=columns.arms, targets=targets, weights=data.weights)
