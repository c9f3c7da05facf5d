"""Arrays in, numbers out: ranks, tests of two samples, random streams, compiled kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..faces import hands_on

if TYPE_CHECKING:
    from .arrays import median as median, read_only as read_only
    from .clock_step import clock_step as clock_step
    from .clusters import dask_cluster as dask_cluster
    from .compiled import announcing as announcing, kernel as kernel
    from .density import bandwidth_of as bandwidth_of, kernel_density as kernel_density
    from .doors import (
        counted as counted,
        door as door,
        numbers as numbers,
        shown as shown,
    )
    from .multiplicity import (
        CORRECTIONS as CORRECTIONS,
        Correction as Correction,
        adjusted as adjusted,
        check_correction as check_correction,
        holm_steps as holm_steps,
    )
    from .normal_scores import normal_positions as normal_positions
    from .power import least_shift as least_shift
    from .quantiles import harrell_davis as harrell_davis
    from .ranked_systems import (
        Friedman as Friedman,
        friedman as friedman,
        friedman_of_ranks as friedman_of_ranks,
        nemenyi_difference as nemenyi_difference,
    )
    from .ranks import (
        TIE_TOLERANCE as TIE_TOLERANCE,
        midranks as midranks,
        rank_sum_normal as rank_sum_normal,
        rank_sum_table as rank_sum_table,
        rank_sum_tied as rank_sum_tied,
        signed_rank_normal as signed_rank_normal,
        signed_rank_table as signed_rank_table,
        signed_rank_tied as signed_rank_tied,
        smallest_rank_sum_pvalue as smallest_rank_sum_pvalue,
    )
    from .run_order import lag_pairs as lag_pairs
    from .shift_function import Shift as Shift, mean_shift as mean_shift, shift_of as shift_of
    from .streams import stream as stream
    from .two_samples import (
        PairTests as PairTests,
        f_test as f_test,
        ks_centred as ks_centred,
        rank_sum as rank_sum,
        student as student,
        welch as welch,
    )
    from .variance import (
        OneWay as OneWay,
        RandomEffects as RandomEffects,
        one_way as one_way,
        random_effects as random_effects,
    )
    from .workers import (
        MOST_WORKERS as MOST_WORKERS,
        Kind as Kind,
        Progress as Progress,
        at_once as at_once,
        available_cores as available_cores,
        in_order as in_order,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "arrays": "median read_only",
            "clock_step": "clock_step",
            "clusters": "dask_cluster",
            "compiled": "announcing kernel",
            "density": "bandwidth_of kernel_density",
            "doors": "counted door numbers shown",
            "quantiles": "harrell_davis",
            "multiplicity": "CORRECTIONS Correction adjusted check_correction holm_steps",
            "ranked_systems": "Friedman friedman friedman_of_ranks nemenyi_difference",
            "power": "least_shift",
            "ranks": "TIE_TOLERANCE midranks rank_sum_normal rank_sum_table rank_sum_tied signed_rank_normal signed_rank_table signed_rank_tied smallest_rank_sum_pvalue",
            "normal_scores": "normal_positions",
            "run_order": "lag_pairs",
            "shift_function": "Shift mean_shift shift_of",
            "streams": "stream",
            "two_samples": "PairTests f_test ks_centred rank_sum student welch",
            "variance": "OneWay RandomEffects one_way random_effects",
            "workers": "MOST_WORKERS Kind Progress at_once available_cores in_order",
        },
    )
