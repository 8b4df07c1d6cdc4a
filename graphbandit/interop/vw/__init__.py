"""Logs of Vowpal Wabbit, in and out: dsjson, and the text of `--cb_adf`, with or without graphs.

Costs become rewards (reward = -cost), actions count from 0, and graphs are turned round: in Vowpal Wabbit `row,col,val`
says that playing *col* reveals *row*, here ``graph[j, a]`` says that playing j reveals a.

Features are read as Vowpal Wabbit has them: a number is a feature of that value; a text is a feature `name=text` of
value 1; names have their namespace in front, such as `User.age` or `User.city=Berlin`. The setting `contexts` says
which of them make the context; there is one column for each feature that is in the file, sorted by name.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from graphbandit.base.choices import ContextForm
from graphbandit.base.public_names import listing
from graphbandit.interop.vw import dsjson, text
from graphbandit.interop.vw.reading import MAX_FEATURES, VwReader
from graphbandit.interop.vw.writing import dsjson_lines, text_lines, write_lines
from graphbandit.logs import Log

__all__ = ["VwReader", "read_dsjson", "read_text", "write_dsjson", "write_text"]


def read_dsjson(
    path: str | os.PathLike[str],
    *,
    context_form: ContextForm = "auto",
    features: Sequence[str] | None = None,
    max_features: int = MAX_FEATURES,
) -> Log:
    """A log from a dsjson file, one JSON object a line, plain or compressed (.gz).

    `_label_Action` (counted from 1) was played with `_label_probability` at `_label_cost`; `a` and `p` have the
    probabilities of all arms, `c._multi` their features, `c._graph` what is revealed. Arms are those of `_multi` by
    their place, or by their `_tag` if all have one. Rewards of further arms are in `o`, as `write_dsjson` puts them
    there: `{"v": reward, "a": arm, "p": observation probability}`. Lines with `_skipLearn`, and rewards without a
    decision, are left out.

    - `path`: the file.
    - `context_form`: "shared", features of the round, (n, d); "arms", of each arm, (n, K, d); "both", (n, K, d), the
      round's before the arm's; "auto" (default): "shared" if arms always have the same features or none, else "arms"
      if rounds have none, else "both".
    - `features`: the features to take; None (default): all there are.
    - `max_features`: more features than this are refused, 4,096 by default.
    """
    return VwReader(Path(path), dsjson.rounds, context_form, features, max_features).to_log()


def read_text(
    path: str | os.PathLike[str],
    *,
    context_form: ContextForm = "auto",
    features: Sequence[str] | None = None,
    max_features: int = MAX_FEATURES,
) -> Log:
    """A log from the text format of `--cb_adf`: a `shared` line, a line for each arm, an empty line.

    The arm with a label `action:cost:probability` was played; the probabilities of all arms may be in the tag of the
    `shared` line, as `write_text` puts them there (`shared 'p=0.2,0.8|x ...`). With a graph in the `shared` line,
    several arms may have labels: then `action` is the place of the arm played, from 0, and the probability of every
    other label is that of being revealed.

    - `path`: the file.
    - `context_form`: "auto" (default), "shared", "arms" or "both", as in `read_dsjson`.
    - `features`: the features to take; None (default): all there are.
    - `max_features`: more features than this are refused, 4,096 by default.
    """
    return VwReader(Path(path), text.rounds, context_form, features, max_features).to_log()


def write_dsjson(log: Log, path: str | os.PathLike[str]) -> None:
    """Write a log as dsjson, all of it or nothing: for `vw --dsjson --cb_explore_adf`, and for `--graph_feedback` too.

    Contexts of shape (d,) are the features 0, 1, ... of the namespace x, or have the log's names; each arm has its name
    in the namespace a. Contexts of shape (K, d) are the features of arms in the namespace a.

    - `log`: the log.
    - `path`: the file.
    """
    write_lines(Path(path), dsjson_lines(log))


def write_text(log: Log, path: str | os.PathLike[str]) -> None:
    """Write a log as text of `--cb_adf`, all of it or nothing.

    Vowpal Wabbit ignores the probabilities of arms other than the one played, which are in the tag of the shared line.
    Without a graph, each round has one label. With one, all revealed arms have: Vowpal Wabbit then needs
    `--graph_feedback`.

    - `log`: the log.
    - `path`: the file.
    """
    write_lines(Path(path), text_lines(log))


__dir__ = listing(globals())
