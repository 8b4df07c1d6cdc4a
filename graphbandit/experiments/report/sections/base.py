"""The data that sections are made from, and the template of their texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from graphbandit.errors import InputError
from graphbandit.experiments.analysis.ranks import Ranks, ranks
from graphbandit.experiments.analysis.statistics import FinalRegrets
from graphbandit.plots.pages.page import Section, templates
from graphbandit.plots.pages.svg import PagePicture

if TYPE_CHECKING:
    from graphbandit.experiments.results.reading import Results


class Reported(NamedTuple):
    """The data of a report: the results, their final regrets, and the ranks if there is something to rank."""

    results: Results
    regrets: FinalRegrets
    ranks: Ranks | None

    @classmethod
    def of(cls, results: Results) -> Reported:
        """Collect the data from the results of `run`."""
        regrets = FinalRegrets.of(results)
        try:
            return cls(results, regrets, ranks(regrets))
        except InputError:
            return cls(results, regrets, None)


def texts() -> Any:
    """The template of a report's sections."""
    return templates("graphbandit.experiments.report", "experiment.html")


def figures_section(
    name: str, title: str, pictures: Sequence[PagePicture], *, text: str = "", note: str = ""
) -> Section:
    """A section of pictures, with an optional paragraph above them and an optional note below."""
    return Section(name, title, texts().figures(text, pictures, note))
