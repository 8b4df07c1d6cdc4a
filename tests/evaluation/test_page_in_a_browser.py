"""The page of an evaluation as a reader sees it, in headless Chromium."""

from pathlib import Path

import numpy as np
import pytest

from graphbandit.evaluation import compare, evaluate
from graphbandit.evaluation.report import write_report
from tests.helpers.browser import needs_chromium, visit
from tests.logs.logged import logged


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = logged(n=300, columns={"country": np.array(["de", "fr", "it"] * 100)})
    table = evaluate(made.log, {"uniform": "uniform", "logged": "logged", "first": np.eye(5)[0]}, by="country")
    differences = [compare(made.log, "first", "uniform"), compare(made.log, "first", "logged")]
    folder = tmp_path_factory.mktemp("page")
    return write_report(table, folder / "page.html", differences=differences, command="graphbandit evaluate log")


SEEN = """
const look = () => ({
  ground: getComputedStyle(document.body).backgroundColor,
  ink: getComputedStyle(document.querySelector("figure svg [style*='--ink']")).fill,
});
const table = document.querySelector("#values table");
const names = () => Array.from(table.tBodies[0].rows, (row) => row.cells[0].textContent);
const heads = Array.from(table.tHead.rows[0].cells, (head) => head.querySelector("button"));
const found = { width: innerWidth, scroll: document.documentElement.scrollWidth, looks: [look()], orders: [names()] };
found.figures = Array.from(document.querySelectorAll("figure svg"), (one) => one.getBoundingClientRect().width);
heads[0].click(); found.orders.push(names());
heads[1].click(); heads[1].click(); found.orders.push(names());
document.getElementById("theme").click(); found.looks.push(look());
found.footer = document.querySelector("footer").textContent;
return found;
"""


@needs_chromium
@pytest.mark.parametrize(("width", "dark"), [(390, True), (1200, False)])
def test_it_fits_sorts_and_changes_colours(page: Path, width: int, dark: bool) -> None:
    seen = visit(page, SEEN, width=width, dark=dark)
    assert seen.console == []
    found = seen.outcome
    assert found["width"] == found["scroll"] == width
    assert len(found["figures"]) == 4
    assert min(found["figures"]) > 250
    assert max(found["figures"]) < width
    light = {"ground": "rgb(246, 246, 244)", "ink": "rgb(34, 34, 34)"}
    night = {"ground": "rgb(20, 21, 23)", "ink": "rgb(233, 233, 231)"}
    assert found["looks"] == ([night, light] if dark else [light, night])
    assert found["orders"][:2] == [["uniform", "logged", "first"], ["first", "logged", "uniform"]]
    assert sorted(found["orders"][2]) == ["first", "logged", "uniform"]
    assert found["footer"].strip().endswith("graphbandit evaluate log")
