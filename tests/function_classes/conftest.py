"""What tests of regressors are tried with."""

import pytest

from tests.function_classes.regressors import FORMS, REGRESSORS


@pytest.fixture(params=REGRESSORS)
def regressor(request):
    return REGRESSORS[request.param]()


@pytest.fixture(params=FORMS)
def form(request):
    return FORMS[request.param]
