"""The functions that may be the truth: each class with its least-squares oracle, version space and candidates."""

from graphbandit.function_classes.base import Draws, FunctionClass
from graphbandit.function_classes.bilinear import BilinearClass
from graphbandit.function_classes.columns import Columns
from graphbandit.function_classes.ellipsoid import Ellipsoid, LinearDraws, LinearModel
from graphbandit.function_classes.finite import FiniteClass, FiniteData, FiniteModel, FiniteSpace
from graphbandit.function_classes.finite_from import finite_from_draws, finite_from_parameters
from graphbandit.function_classes.generalized_linear import GeneralizedLinearClass, GeneralizedLinearData
from graphbandit.function_classes.kernel import KernelClass
from graphbandit.function_classes.last_layer import LastLayerClass
from graphbandit.function_classes.linear import LinearClass, LinearData
from graphbandit.function_classes.online import OnlineLinear
from graphbandit.function_classes.refits import FitReport
from graphbandit.function_classes.regressor import RegressorClass
from graphbandit.function_classes.scale import Scale
from graphbandit.function_classes.torch_module import TorchClass

__all__ = [
    "BilinearClass",
    "Columns",
    "Draws",
    "Ellipsoid",
    "FiniteClass",
    "FiniteData",
    "FiniteModel",
    "FiniteSpace",
    "FitReport",
    "FunctionClass",
    "GeneralizedLinearClass",
    "GeneralizedLinearData",
    "KernelClass",
    "LastLayerClass",
    "LinearClass",
    "LinearData",
    "LinearDraws",
    "LinearModel",
    "OnlineLinear",
    "RegressorClass",
    "Scale",
    "TorchClass",
    "finite_from_draws",
    "finite_from_parameters",
]
