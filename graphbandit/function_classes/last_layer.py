"""Linear functions of what a trained module computes before its last layer: an ellipsoid instead of an ensemble."""

import copy
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from graphbandit.base.array_types import ArmMasks, Contexts, RoundIndices, RoundsByArms
from graphbandit.base.checks import available_array
from graphbandit.base.declared import Declared, limits
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Float
from graphbandit.errors import SettingError
from graphbandit.function_classes.base import Draws, FunctionClass
from graphbandit.function_classes.ellipsoid import Ellipsoid, LinearDraws
from graphbandit.function_classes.ensemble import check_radius
from graphbandit.function_classes.fits import RefitData, RefitModel, fit_up_to
from graphbandit.function_classes.linear import LinearClass, LinearData
from graphbandit.function_classes.scale import Scale
from graphbandit.function_classes.torch_module import TorchClass, Trained
from graphbandit.function_classes.trained_modules import TrainedModules, evaluated
from graphbandit.function_classes.value_bounds import widths_within
from graphbandit.rounds.observations import Observations

if TYPE_CHECKING:
    import torch


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class LastLayerSpace(Declared):
    """The ellipsoid of this radius about the last layer that was fitted to this data."""

    data: RefitData
    radius: float = field(metadata=limits(at_least=0.0))


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class LastLayerDraws(Declared):
    """Last layers drawn for the module that was trained on this data."""

    data: RefitData
    layers: LinearDraws


@dataclass(frozen=True, kw_only=True, eq=False)
class BodyAndHead:
    """A trained module without its last layer, and the sums of the ridge regression in place of that layer."""

    body: TrainedModules
    head: LinearData


class LastLayerClass(FunctionClass[RefitData, RefitModel, LastLayerSpace]):
    """f(x, a) = theta[a]'(phi(x), 1), phi being what the module of `torch_class` computes before its last layer.

    The module is trained on all data, once, and there are no refits. phi is then taken as given, as if it had been
    known beforehand, and LinearClass does the rest. So the version space has doubts about the last layer and none about
    phi, and it is cheap: one training, then ellipsoids. With `arm_contexts` in `torch_class` there is one theta for all
    arms, f(x, a) = theta'(phi(x[a]), 1). Before there is data, phi is that of the module as it is first made.

    The module is trained and phi computed on the device of `torch_class`, the rest on the processor.

    - `torch_class`: as ``TorchClass(make, n_arms=3, dimension=5, device="auto")``; the module's last layer must be a
      torch.nn.Linear, with nothing after it.
    - `ridge`, `norm_bound`: as in `LinearClass`, None by default.
    """

    def __init__(self, torch_class: TorchClass, *, ridge: float | None = None, norm_bound: float | None = None) -> None:
        if not isinstance(torch_class, TorchClass):
            raise SettingError(f"torch_class is {torch_class!r}; expected a TorchClass")
        self._torch_class = torch_class
        module = torch_class.new_module()
        body = _body(module)
        _check_last(module, body, torch_class.dimension)
        self._size = _last_layer(module)[1].in_features
        self._linear = LinearClass(
            n_arms=torch_class.n_arms,
            dimension=self._size,
            parameters="shared" if torch_class.arm_contexts else "per-arm",
            intercept=True,
            ridge=ridge,
            norm_bound=norm_bound,
        )
        self._initial = BodyAndHead(body=TrainedModules([body], outputs=self._size), head=self._linear.empty())

    def __repr__(self) -> str:
        return (
            f"LastLayerClass({self._torch_class!r}, ridge={self._linear.ridge}, norm_bound={self._linear.norm_bound})"
        )

    def __external__(self) -> dict[str, Any]:
        """How a saved file names this class, since it cannot hold a module's code."""
        return {
            "class": "LastLayerClass",
            "torch_class": self._torch_class.__external__(),
            "ridge": self._linear.ridge,
            "norm_bound": self._linear.norm_bound,
        }

    def grown(self, n_arms: int, arm_features: Float[np.ndarray, "arms d"] | None) -> FunctionClass[Any, Any, Any]:
        """No, like `torch_class`: its module has an output for each arm."""
        return self._torch_class.grown(n_arms, arm_features)

    def check_own_arms(self) -> None:
        """Raise an error where `torch_class` cannot take arms that a round brings."""
        self._torch_class.check_own_arms()

    @property
    def n_arms(self) -> int:
        """K."""
        return self._torch_class.n_arms

    @property
    def log_size(self) -> float:
        """The logarithm of the size of the linear class of last layers."""
        return self._linear.log_size

    def check_contexts(self, contexts: Contexts) -> None:
        """Raise an error at contexts that the module cannot take."""
        self._torch_class.check_contexts(contexts)

    def empty(self, half_life: float | None = None) -> RefitData:
        """No observation yet."""
        return self._torch_class.empty(half_life)

    def add(self, data: RefitData, observations: Observations) -> RefitData:
        """All observations are kept."""
        return self._torch_class.add(data, observations)

    def n_observed(self, data: RefitData) -> int:
        """How many rewards the data holds."""
        return len(data)

    def fit(self, data: RefitData) -> RefitModel:
        """The module trained on this data, and the ridge regression on its phi."""
        self._head(data)
        return RefitModel(data=data)

    def predict(self, model: RefitModel, contexts: Contexts) -> RoundsByArms:
        """What the ridge regression on phi predicts."""
        head = self._linear.fit(self._head(model.data))
        return self._linear.predict(head, self._features(model.data, contexts))

    def smallest_loss(self, data: RefitData) -> float:
        """The loss of the ridge regression on phi."""
        return self._linear.smallest_loss(self._head(data))

    def natural_scale(self, data: RefitData) -> Scale:
        """The noise that the linear class finds in this data, and how much there is to learn."""
        return self._linear.natural_scale(self._head(data))

    def unit(self, data: RefitData) -> float:
        """The size of a reward that counts as 1, as the linear class has it."""
        return self._linear.unit(self._head(data))

    def sharp_radius(self, data: RefitData, noise: float, delta: float) -> float:
        """That of the linear class: valid if phi had been known beforehand, which it was not."""
        return self._linear.sharp_radius(self._head(data), noise, delta)

    def version_space(self, data: RefitData, radius: float) -> LastLayerSpace:
        """(theta - thetahat)'V (theta - thetahat) <= radius, V = ridge I + sum phi phi'."""
        check_radius(radius)
        if radius < math.inf:
            self._head(data)
        return LastLayerSpace(data=data, radius=radius)

    def candidates(self, space: LastLayerSpace, contexts: Contexts, available: ArmMasks | None = None) -> ArmMasks:
        """The arms that win for some theta of the ellipsoid; all arms at radius infinity."""
        if space.radius == math.inf:
            self.check_contexts(contexts)
            mask = available_array(available, len(contexts), self.n_arms)
            return np.ones((len(contexts), self.n_arms), dtype=np.bool_) if mask is None else np.array(mask)
        return self._linear.candidates(self._ellipsoid(space), self._features(space.data, contexts), available)

    def widths(self, space: LastLayerSpace, model: RefitModel, contexts: Contexts, best: RoundIndices) -> RoundsByArms:
        """Exact if the model is of the same data; else its phi differs, and the bounds give the widths."""
        if space.radius == math.inf or not space.data.equals(model.data):
            return widths_within(*self.bounds(space, contexts), self.predict(model, contexts), best)
        features = self._features(space.data, contexts)
        return self._linear.widths(self._ellipsoid(space), self._linear.fit(self._head(model.data)), features, best)

    def bounds(self, space: LastLayerSpace, contexts: Contexts) -> tuple[RoundsByArms, RoundsByArms]:
        """thetahat'phi -+ sqrt(radius phi'V^-1 phi)."""
        return self._linear.bounds(self._ellipsoid(space), self._features(space.data, contexts))

    def draws(self, data: RefitData, *, noise: float | None, count: int, rng: np.random.Generator) -> Draws:
        """Last layers from N(thetahat, sigma^2 V^-1), all of the same weight."""
        drawn = self._linear.draws(self._head(data), noise=noise, count=count, rng=rng)
        return Draws(members=LastLayerDraws(data=data, layers=drawn.members), weights=drawn.weights)

    def draw_values(self, draws: Draws, contexts: Contexts) -> Float[np.ndarray, "n draws arms"]:
        """theta_b'phi."""
        members: LastLayerDraws = draws.members
        inner = Draws(members=members.layers, weights=draws.weights)
        return self._linear.draw_values(inner, self._features(members.data, contexts))

    def _ellipsoid(self, space: LastLayerSpace) -> Ellipsoid:
        return self._linear.version_space(self._head(space.data), space.radius)

    def _head(self, data: RefitData) -> LinearData:
        """The sums of the ridge regression."""
        return self._trained(data).head

    def _trained(self, data: RefitData) -> BodyAndHead:
        """What is known of this data, made once."""
        if not len(data):
            return self._initial
        if self not in data.fits:
            trained: Trained = self._torch_class.fits(data, 1)[0].function.function
            body = TrainedModules([_body(trained.module)], outputs=self._size)
            columns, n = data.columns, len(data)
            phi = self._phi(body, columns.contexts)
            if self._torch_class.arm_contexts:  # the linear class looks at the row of the arm that was seen
                phi = np.broadcast_to(phi[:, None], (n, self.n_arms, self._size))
            index = np.arange(n)
            # one round an observation; with a half-life, the data's own rounds, as ages count
            rounds = columns.rounds if data.half_life is not None else index
            seen = Observations(contexts=phi, rounds=rounds, rows=index, arms=columns.arms, rewards=columns.rewards)
            fit_up_to(
                self,
                data,
                1,
                lambda _: [BodyAndHead(body=body, head=self._linear.add(self._linear.empty(data.half_life), seen))],
                lambda both: self._linear.predict(self._linear.fit(both.head), phi)[index, columns.arms],
                name=f"last layer of {self._torch_class.name}",
                groups=[(0,)],
                on_fit=None,
            )
        both: BodyAndHead = data.fits[self][0].function
        return both

    def _features(self, data: RefitData, contexts: Contexts) -> Float[np.ndarray, "n ..."]:
        """phi of each context, or of each arm's."""
        self.check_contexts(contexts)
        rows = contexts.reshape(-1, contexts.shape[-1])
        return self._phi(self._trained(data).body, rows).reshape(*contexts.shape[:-1], self._size)

    def _phi(self, body: TrainedModules, rows: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n h"]:
        return body.values((0,), rows, self._torch_class.device)[:, 0]


def _last_layer(module: "torch.nn.Module") -> tuple[str, "torch.nn.Linear"]:
    """The last Linear layer inside the module, and its name there."""
    import torch

    layers = [(name, layer) for name, layer in module.named_modules() if name and isinstance(layer, torch.nn.Linear)]
    if not layers:
        raise SettingError(f"the module is {module!r}; expected one with a torch.nn.Linear as its last layer")
    return layers[-1]


def _body(module: "torch.nn.Module") -> "torch.nn.Module":
    """The module without its last layer: it gives what that layer is given."""
    import torch

    body = copy.deepcopy(module)
    parent, _, name = _last_layer(module)[0].rpartition(".")
    setattr(body.get_submodule(parent), name, torch.nn.Identity())
    return body


def _check_last(module: "torch.nn.Module", body: "torch.nn.Module", dimension: int) -> None:
    """Raise SettingError unless the module is its last layer after its body."""
    _, last = _last_layer(module)
    rows = np.random.default_rng(0).normal(size=(4, dimension))
    phi, values = evaluated(body, rows), evaluated(module, rows)
    if phi.shape == (4, last.in_features):
        again = evaluated(last, phi)
        if again.size == values.size and np.allclose(again.ravel(), values.ravel(), rtol=1e-4, atol=1e-6):
            return
    raise SettingError(f"the module is {module!r}; expected that its values are what its last Linear layer gives")
