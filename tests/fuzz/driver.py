"""What a part of the trial is: numbered cases, each with a random stream of its own, that count and find defects."""

import contextlib
import hashlib
import importlib
import signal
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

PARTS = (
    "operations",
    "interrupts",
    "threads",
    "damaged_files",
    "numerics",
    "propensities",
    "programs",
    "functions",
    "experiment_files",
    "disks",
)


class Defect(AssertionError):  # noqa: N818
    """Something that must not happen has happened."""


class Refused(Exception):  # noqa: N818
    """There is nothing to try in this case."""


class TooLong(BaseException):
    """A call was ended."""


@contextlib.contextmanager
def time_limit(seconds: float = 20.0) -> Iterator[None]:
    """Raise TooLong in what takes longer: some hostile sizes ask for years."""

    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@dataclass
class Case:
    """One case: its own random numbers and folder, and what it counts.

    - `number`, `seed`: they fix `rng`, whatever ran before.
    - `folder`: a folder that is empty and goes away.
    - `counts`: what was done, in words.
    - `told`: what is tried now; a defect says so.
    """

    part: str
    number: int
    seed: int
    folder: Path
    counts: Counter[str] = field(default_factory=Counter)
    defects: list[str] = field(default_factory=list)
    told: str = ""

    def __post_init__(self) -> None:
        name = int.from_bytes(hashlib.blake2b(self.part.encode(), digest_size=8).digest(), "little")
        self.rng = np.random.default_rng([self.seed, name, self.number])

    def count(self, what: str, n: int = 1) -> None:
        """One more of these."""
        self.counts[what] += n

    def defect(self, what: str) -> None:
        """Note a defect, and go on."""
        self.defects.append(what)


@dataclass(frozen=True)
class Part:
    """A part of the trial.

    - `about`: what is tried, in a sentence.
    - `cases`: how many there are at scale 1, the part of `make test`.
    - `run`: runs one case. An exception is a defect.
    - `seconds`: a case that is not done by then hangs. Kernels may have to be compiled within.
    """

    about: str
    cases: int
    run: Callable[[Case], None]
    seconds: float = 900.0

    def scaled(self, scale: float) -> int:
        """How many cases there are at this scale."""
        return max(1, round(self.cases * scale))


def part_named(name: str) -> Part:
    """The part in the file of this name."""
    part: Part = importlib.import_module(f"tests.fuzz.{name}").PART
    return part


def run_case(part: Part, case: Case) -> None:
    """Run a case; whatever it raises is a defect."""
    try:
        part.run(case)
    except Refused as why:
        case.count(str(why))
    except Exception as error:
        frames = traceback.format_list(traceback.extract_tb(error.__traceback__)[-5:])
        raised = "".join(traceback.format_exception_only(error))[:600]
        case.defect("\n".join([raised.rstrip(), case.told[:300], "".join(frames).rstrip()]))
