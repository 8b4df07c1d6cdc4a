"""A PyTorch module as the oracle: trained from scratch each time, on the processor, the same way every time."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from graphbandit.base.checks import setting_integer, setting_number
from graphbandit.base.shapes import Float, Int
from graphbandit.errors import MissingExtraError, SettingError
from graphbandit.function_classes.ensemble import BLOCK, EnsembleFunctionClass, in_blocks
from graphbandit.function_classes.refits import FitReport, RefitData

if TYPE_CHECKING:
    import torch

_one_at_a_time = threading.Lock()
"""PyTorch has one random generator a process; who trains has it to himself, and puts it back."""


class TorchClass(EnsembleFunctionClass["torch.nn.Module"]):
    """The functions that a module can learn, by AdamW on squared errors.

    ``TorchClass(lambda: nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 3)), n_arms=3, dimension=5)``

    Training always starts from scratch. The version space is an ensemble of refits, each with weights of its own and
    with observations drawn with replacement. Initial weights, batches and dropout follow `seed`, the number of
    observations and the number of the refit, and PyTorch's own generator is left as it was; so the same data gives the
    same module on the same machine with the same number of threads. A process trains one module at a time.

    - `make`: is called for every fit and returns a new module with random weights. The module takes contexts of shape
      (n, d) to values of all arms (n, K); with `arm_contexts` it takes those of single arms (n, d) to their values (n,)
      or (n, 1).
    - `n_arms`: K.
    - `dimension`: d, the length of a context, or of an arm's row of it.
    - `arm_contexts`: whether a round has a context for each arm; False by default.
    - `members`: how many refits the ensemble has, 5 by default.
    - `passes`: how often training goes through all observations, 100 by default.
    - `batch_size`: observations in one step of training, 64 by default.
    - `learning_rate`, `weight_decay`: AdamW's, 0.01 and 0 by default.
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
        low: float | None = None,
        high: float | None = None,
        entropy: float | None = None,
        seed: int = 0,
        on_fit: Callable[[FitReport], None] | None = None,
        factors: "npt.ArrayLike | None" = None,
    ) -> None:
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
        self._passes = setting_integer("passes", passes, at_least=1)
        self._batch_size = setting_integer("batch_size", batch_size, at_least=1)
        self._learning_rate = setting_number("learning_rate", learning_rate, above=0.0)
        self._weight_decay = setting_number("weight_decay", weight_decay, at_least=0.0)
        self._make = make
        try:
            import torch  # noqa: F401
        except ImportError as error:
            raise MissingExtraError("TorchClass needs PyTorch: pip install 'graphbandit[torch]'") from error
        self._description = repr(self.new_module())

    def __repr__(self) -> str:
        return f"TorchClass({self._make!r}, n_arms={self.n_arms}, dimension={self._dimension})"

    def __external__(self) -> dict[str, Any]:
        """How a saved file names this class, since it cannot hold a module's code."""
        return {
            "class": "TorchClass",
            "module": self._description,
            "n_arms": self.n_arms,
            "dimension": self._dimension,
            "arm_contexts": self._arm_contexts,
            "members": self._members,
            "passes": self._passes,
            "batch_size": self._batch_size,
            "learning_rate": self._learning_rate,
            "weight_decay": self._weight_decay,
            "low": self._low,
            "high": self._high,
            "entropy": self._entropy,
            "seed": self._seed,
            "factors": self._factors.tolist(),
        }

    @property
    def name(self) -> str:
        """The module's."""
        return self._description.split("(", 1)[0]

    def fit_number(
        self, data: RefitData, targets: Float[np.ndarray, " observed"], number: int, rng: np.random.Generator
    ) -> "torch.nn.Module":
        """A new module trained on all observations, or on as many drawn with replacement."""
        import torch

        columns, n = data.columns, len(data)
        index = np.arange(n) if number == 0 else np.sort(rng.integers(n, size=n))
        with private_randomness(int(rng.integers(2**62))):
            module = self._make()
            rows, arms = tensor(module, columns.contexts[index]), torch.from_numpy(columns.arms[index])
            rewards, weights = tensor(module, targets[index]), tensor(module, data.weights[index])
            optimizer = torch.optim.AdamW(module.parameters(), lr=self._learning_rate, weight_decay=self._weight_decay)
            module.train()
            for _ in range(self._passes):
                for batch in torch.randperm(n).split(self._batch_size):  # type: ignore[no-untyped-call]
                    optimizer.zero_grad()
                    errors = self._picked(module(rows[batch]), arms[batch]) - rewards[batch]
                    (weights[batch] * errors.square()).mean().backward()  # type: ignore[no-untyped-call]
                    optimizer.step()
        return module.eval()

    def pair_values(
        self,
        function: "torch.nn.Module",
        rows: Float[np.ndarray, "pairs d"],
        arms: Int[np.ndarray, " pairs"],
        *,
        most: int = BLOCK,
    ) -> Float[np.ndarray, " pairs"]:
        """The module's answers, of which the arm's is taken."""

        def evaluate(index: Int[np.ndarray, " block"]) -> Float[np.ndarray, " block"]:
            output = evaluated(function, rows[index])
            return output.reshape(-1) if self._arm_contexts else output[np.arange(len(index)), arms[index]]

        return in_blocks(len(arms), evaluate, most=most)

    def _picked(self, output: "torch.Tensor", arms: "torch.Tensor") -> "torch.Tensor":
        """f(x, a) of each pair, from the module's values of all arms or of this one."""
        return output.reshape(-1) if self._arm_contexts else output.gather(1, arms[:, None])[:, 0]

    def new_module(self) -> "torch.nn.Module":
        """A module that is not trained; SettingError if what `make` returns does not fit the class."""
        import torch

        if isinstance(self._make, torch.nn.Module) or not callable(self._make):
            raise SettingError(f"make is {self._make!r}; expected a callable that returns a new module at each call")
        with private_randomness(0):
            module = self._make()
            if not isinstance(module, torch.nn.Module) or not list(module.parameters()):
                raise SettingError(f"make returned {module!r}; expected a torch.nn.Module that has parameters")
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


@contextmanager
def private_randomness(seed: int) -> Iterator[None]:
    """PyTorch's generator at this seed, for one thread at a time; afterwards it is where it was."""
    import torch

    with _one_at_a_time, torch.random.fork_rng(devices=[]):
        torch.random.manual_seed(seed)
        yield


def evaluated(module: "torch.nn.Module", rows: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n ..."]:
    """What the module gives, without a gradient."""
    import torch

    with torch.inference_mode():
        output: Float[np.ndarray, "n ..."] = module(tensor(module, rows)).double().numpy()
    return output


def tensor(module: "torch.nn.Module", array: Float[np.ndarray, "..."]) -> "torch.Tensor":
    """The array in the precision of the module's parameters; PyTorch's own if there are none."""
    import torch

    precision = next((weights.dtype for weights in module.parameters()), torch.get_default_dtype())
    return torch.from_numpy(np.ascontiguousarray(array)).to(precision)
