"""How much is measured: the full run, the quick one, and one that only shows that everything works."""

from dataclasses import dataclass

PARTS = ("lp", "squarecb", "decision", "everyday", "throughput", "scaling", "startup", "service")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Sizes of all parts. `seconds` are budgets of one table row, all contenders together."""

    name: str
    lp_arms: tuple[int, ...] = (10, 20, 50, 100, 200, 500, 1000)
    lp_seconds: float = 2.0
    lp_instances: int = 400
    squarecb_arms: tuple[int, ...] = (5, 10, 20, 50)
    squarecb_instances: int = 25
    decision_arms: tuple[int, ...] = (5, 10, 20, 50)
    decision_learnt: int = 32
    decision_repeats: int = 24
    vowpal_arms: tuple[int, ...] = (10, 20, 50)
    vowpal_graph_arms: tuple[int, ...] = (5, 10)
    vowpal_graph_rounds: int = 8
    everyday_arms: tuple[int, ...] = (10, 50)
    everyday_learnt: int = 600
    everyday_blocks: int = 40
    everyday_many_arms: tuple[int, ...] = (5_000, 100_000)
    everyday_many_rounds: int = 20
    throughput_arms: int = 50
    throughput_rounds: int = 2**11
    throughput_passes: int = 15
    reference_rounds: int = 2**8
    reference_passes: int = 2
    workers_repeats: int = 16
    workers_seconds: float = 2.0
    workers_passes: int = 3
    scaling_arms: tuple[int, ...] = (10**2, 10**3, 10**4, 10**5, 10**6)
    scaling_decisions: int = 5
    scaling_rounds: tuple[int, ...] = (2**10, 2**12, 2**14, 2**16)
    startup_passes: int = 7
    startup_empty_cache: bool = True
    service_seconds: float = 10.0
    service_clients: int = 12
    service_open: int = 1_000_000
    service_traffic: int = 100_000
    service_workers: tuple[int, ...] = (2, 4)


FULL = Settings(name="full")

QUICK = Settings(
    name="quick",
    lp_arms=(10, 50, 100),
    lp_seconds=0.6,
    squarecb_instances=5,
    decision_repeats=6,
    everyday_blocks=12,
    everyday_many_arms=(5_000,),
    vowpal_graph_rounds=3,
    throughput_passes=5,
    reference_passes=1,
    workers_repeats=8,
    workers_seconds=0.5,
    workers_passes=1,
    scaling_arms=(10**2, 10**4),
    scaling_rounds=(2**10, 2**12),
    startup_passes=3,
    startup_empty_cache=False,
    service_seconds=4.0,
    service_open=50_000,
    service_traffic=10_000,
    service_workers=(2,),
)

TINY = Settings(
    name="tiny",
    lp_arms=(10,),
    lp_seconds=0.0,
    lp_instances=2,
    squarecb_arms=(5,),
    squarecb_instances=2,
    decision_arms=(5, 10),
    decision_learnt=16,
    decision_repeats=1,
    everyday_arms=(5,),
    everyday_learnt=20,
    everyday_blocks=2,
    everyday_many_arms=(400,),
    everyday_many_rounds=16,
    vowpal_arms=(10,),
    vowpal_graph_arms=(5,),
    vowpal_graph_rounds=1,
    throughput_arms=8,
    throughput_rounds=2**5,
    throughput_passes=1,
    reference_rounds=2**4,
    reference_passes=1,
    workers_repeats=2,
    workers_seconds=0.0,
    workers_passes=1,
    scaling_arms=(100,),
    scaling_decisions=2,
    scaling_rounds=(2**5,),
    startup_passes=1,
    startup_empty_cache=False,
    service_seconds=0.3,
    service_clients=2,
    service_open=0,
    service_traffic=0,
    service_workers=(),
)
