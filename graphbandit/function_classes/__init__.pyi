from .base import Draws as Draws
from .base import FunctionClass as FunctionClass
from .bilinear import BilinearClass as BilinearClass
from .ellipsoid import Ellipsoid as Ellipsoid
from .ellipsoid import LinearDraws as LinearDraws
from .ellipsoid import LinearModel as LinearModel
from .finite import FiniteClass as FiniteClass
from .finite_base import FiniteData as FiniteData
from .finite_base import FiniteModel as FiniteModel
from .finite_base import FiniteSpace as FiniteSpace
from .finite_from_others import finite_from_draws as finite_from_draws
from .finite_from_others import finite_from_parameters as finite_from_parameters
from .fits import FitReport as FitReport
from .generalized_linear import GeneralizedLinearClass as GeneralizedLinearClass
from .generalized_linear import GeneralizedLinearData as GeneralizedLinearData
from .kernel import KernelClass as KernelClass
from .last_layer import LastLayerClass as LastLayerClass
from .linear import LinearClass as LinearClass
from .linear import LinearData as LinearData
from .observation_columns import ObservationColumns as ObservationColumns
from .online import OnlineLinear as OnlineLinear
from .reduction import ReductionClass as ReductionClass
from .regressor import RegressorClass as RegressorClass
from .scale import Scale as Scale
from .torch_module import TorchClass as TorchClass

__all__: list[str]
