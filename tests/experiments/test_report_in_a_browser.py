"""The report as a reader sees it, in headless Chromium."""

from pathlib import Path

import pytest

from graphbandit.experiments.report.experiment import write_report
from tests.helpers.browser import browser, needs_chromium, visit
from tests.helpers.experiment_results import made_up, sweep, tuning


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    built = {"sweep": sweep, "tuning": tuning}
    return {name: write_report(build(), folder / f"{name}.html") for name, build in built.items()}


SEEN = """
const figures = Array.from(document.querySelectorAll("figure svg"), (figure) => figure.getBoundingClientRect());
return {
  width: innerWidth,
  scroll: document.documentElement.scrollWidth,
  figures: figures.map((box) => [box.width, box.height]),
  ground: getComputedStyle(document.body).backgroundColor,
  ink: getComputedStyle(document.querySelector("figure svg [style*='--ink']")).fill,
  boxes: Array.from(document.querySelectorAll(".scroll"), (box) => box.scrollWidth > box.clientWidth + 1),
};
"""


@needs_chromium
@pytest.mark.parametrize("width", [390, 1200])
@pytest.mark.parametrize("which", ["sweep", "tuning"])
def test_the_page_fits_and_its_figures_show(pages: dict[str, Path], which: str, width: int) -> None:
    seen = visit(pages[which], SEEN, width=width)
    assert seen.console == []
    assert seen.outcome["width"] == width
    assert seen.outcome["scroll"] == width  # the page itself never scrolls sideways; wide tables do, in their boxes
    assert any(seen.outcome["boxes"]) or width > 390
    assert len(seen.outcome["figures"]) == {"sweep": 9, "tuning": 5}[which]
    assert min(min(size) for size in seen.outcome["figures"]) > 60


@needs_chromium
def test_tables_sort_when_their_headings_are_clicked(pages: dict[str, Path]) -> None:
    script = """
    const table = document.querySelector("#summary table");
    const heads = Array.from(table.tHead.rows[0].cells);
    const state = () => [Array.from(table.tBodies[0].rows, (row) => row.cells[0].textContent),
                         heads.map((head) => head.getAttribute("aria-sort"))];
    const states = [state()];
    for (const column of [0, 0, 2, 2]) { heads[column].querySelector("button").click(); states.push(state()); }
    return states;
    """
    seen = visit(pages["sweep"], script)
    assert seen.console == []
    names = ["AdaCB.G", "RegCB.G", "FALCON", "Uniform"]
    by_name = ["AdaCB.G", "FALCON", "RegCB.G", "Uniform"]
    up, down = "ascending", "descending"
    assert seen.outcome == [
        [names, [None, None, None, None, up]],
        [by_name, [up, None, None, None, None]],
        [by_name[::-1], [down, None, None, None, None]],
        [names, [None, None, up, None, None]],
        [names[::-1], [None, None, down, None, None]],
    ]


@needs_chromium
def test_cells_without_a_number_stay_last(tmp_path: Path) -> None:
    page = write_report(made_up({("s", "a"): [5.0], ("s", "b"): [1.0], ("t", "c"): [1.0]}), tmp_path / "page.html")
    script = """
    const table = document.querySelector("#summary table"), button = table.tHead.rows[0].cells[1].firstChild;
    const names = () => Array.from(table.tBodies[0].rows, (row) => row.cells[0].textContent).join("");
    const found = [];
    for (let i = 0; i < 2; i++) { button.click(); found.push(names()); }
    return found;
    """
    assert visit(page, script).outcome == ["abc", "bac"]


@needs_chromium
@pytest.mark.parametrize("dark", [False, True])
def test_light_and_dark_follow_the_system_until_chosen_and_are_remembered(pages: dict[str, Path], dark: bool) -> None:
    look = """({
      ground: getComputedStyle(document.body).backgroundColor, theme: document.documentElement.dataset.theme ?? null,
      ink: getComputedStyle(document.querySelector("figure svg [style*='--ink']")).fill,
      button: document.getElementById("theme").textContent })"""
    script = f"""
    if (!window.name) {{
      window.name = JSON.stringify([{look}]);
      document.getElementById("theme").click();
      window.name = JSON.stringify([...JSON.parse(window.name), {look}]);
      location.reload();
      return undefined;
    }}
    return [...JSON.parse(window.name), {look}];
    """
    seen = visit(pages["sweep"], script, dark=dark)
    assert seen.console == []
    light = {"ground": "rgb(246, 246, 244)", "ink": "rgb(34, 34, 34)", "button": "Dark"}
    night = {"ground": "rgb(20, 21, 23)", "ink": "rgb(233, 233, 231)", "button": "Light"}
    first, second = (night, light) if dark else (light, night)
    chosen = "light" if dark else "dark"
    assert seen.outcome == [{**first, "theme": None}, {**second, "theme": chosen}, {**second, "theme": chosen}]


@needs_chromium
def test_what_a_reader_sees_is_light_or_dark(pages: dict[str, Path], tmp_path: Path) -> None:
    from matplotlib.image import imread

    shades = []
    for dark in (False, True):
        with browser() as tab:
            tab.size(600, 700, dark=dark)
            tab.once_loaded(pages["sweep"].as_uri(), "return true;")
            tab.screenshot(tmp_path / "page.png", whole=False)
        shades.append(float(imread(tmp_path / "page.png")[..., :3].mean()))
    assert shades[0] > 0.85
    assert shades[1] < 0.25
