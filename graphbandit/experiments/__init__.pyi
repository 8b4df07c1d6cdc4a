from .describe.experiment import Experiment as Experiment
from .describe.grids import Grid as Grid
from .describe.own_kinds import register as register
from .describe.toml_reader import load as load
from .report.write_report import write_report as write_report
from .results.reading import Results as Results
from .running.engines import Cluster as Cluster
from .running.engines import Engine as Engine
from .running.engines import InProcess as InProcess
from .running.engines import Processes as Processes
from .running.runner import Progress as Progress
from .running.runner import run as run
from .running.runner import run_all as run_all

__all__: list[str]

def __getattr__(name: str) -> object: ...
