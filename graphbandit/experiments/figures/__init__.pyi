from .curves import plot_curves as plot_curves
from .curves import plot_regret_versus_time as plot_regret_versus_time
from .heatmap import plot_heatmap as plot_heatmap
from .paired import plot_paired as plot_paired
from .ranks import plot_ranks as plot_ranks

__all__: list[str]
