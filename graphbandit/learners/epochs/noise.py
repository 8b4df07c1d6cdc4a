"""The noise scale sigma of a problem that does not say it: estimates that err on the high side."""

import math
import warnings
from typing import Any

from graphbandit.errors import EstimatedNoiseWarning
from graphbandit.function_classes.base import FunctionClass
from graphbandit.function_classes.scale import SHAPE


def warn_of_estimated_noise(learner: str) -> None:
    """Warn the maker of the learner's first state that the noise is not known."""
    warnings.warn(
        f"the problem does not say its noise, so {learner} estimates it, on the high side; "
        "give Problem(noise=...), 0.5 for rewards in [0, 1], to learn faster",
        EstimatedNoiseWarning,
        stacklevel=5,
    )


def conservative_noise(
    known: float | None,
    functions: FunctionClass[Any, Any, Any],
    data: Any,
    *,
    span: float,
    epoch: int,
    delta: float,
) -> float:
    """The problem's sigma if known, or an estimate that errs on the high side; infinite without enough data.

    It is the larger of two. The first is half the span of the rewards seen, if they differ: by Hoeffding's lemma
    enough for rewards that stay within it. The second is a bound from the residuals, for noise that is about Gaussian:
    those of f* have a sum of squares S >= sigma^2 (N - 2 sqrt(N log(1/delta))) with probability 1 - delta, and
    min L >= S - 2 sigma^2 log(|F|/delta), solved for sigma, with delta / (m (m + 1)) for delta in epoch m.
    """
    if known is not None:
        return known
    count = functions.n_observed(data)
    failure = math.log(epoch * (epoch + 1) / delta)
    informative = count - 2.0 * math.sqrt(count * failure) - 2.0 * (functions.log_size + failure)
    if informative <= 0 or span == 0.0:
        return math.inf
    return max(span / 2.0, math.sqrt(functions.smallest_loss(data) / informative))


def likely_noise(
    known: float | None, functions: FunctionClass[Any, Any, Any], data: Any, *, count: float, epoch: int, delta: float
) -> float:
    """The problem's sigma if known, or the 1 - delta / (m (m + 1)) quantile of its posterior; infinite without data.

    sigma^2 | data ~ InvGamma(s, b) with s = a0 + n / 2 and b / s the class's estimate (`function_classes/scale.py`),
    so the quantile is the estimate times sqrt(s / G), G the delta / (m (m + 1)) quantile of the gamma distribution
    of shape s. It holds in all epochs at once for noise that is about Gaussian. `count` is n, the rewards at full
    weight.
    """
    if known is not None:
        return known
    estimate = functions.natural_scale(data).noise
    if estimate == 0.0:
        return math.inf
    from scipy.special import gammaincinv

    shape = SHAPE + count / 2.0
    return estimate * math.sqrt(shape / float(gammaincinv(shape, delta / (epoch * (epoch + 1)))))
