"""The page about features shows code that runs and says what it says."""

import re
from pathlib import Path

import pandas as pd
from sklearn.preprocessing import StandardScaler

PAGE = (Path(__file__).parents[2] / "docs" / "features.md").read_text(encoding="utf-8")


def test_the_code_on_the_page_runs():
    frame = pd.DataFrame([{"age": 31, "country": "DE", "hour": 5, "member": True}])
    names = {
        "frame": frame,
        "past_contexts": frame,
        "fitted_pipeline": StandardScaler().fit(frame[["age"]]),
        "frame_of_items": pd.DataFrame({"arm": ["cake", "tea"], "price": [4.0, 2.0]}),
    }
    first, second = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    declared, rest = first.split("features.encode({", 1)
    exec(compile(declared, "features.md", "exec"), names)
    features = names["features"]
    assert f"# {features.feature_names}" in first
    exec(compile("features.encode({" + rest, "features.md", "exec"), names)
    names["features"] = features
    exec(compile(second, "features.md", "exec"), names)
    assert features.encode(frame).shape == (1, 9)
    assert names["items"].values.shape == (2, 3)
    assert names["pair_features"](features.encode(frame), names["items"].values).shape == (1, 2, 27)
