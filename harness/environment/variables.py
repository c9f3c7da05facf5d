"""What is stored of environment variables: values of those that explain a timing, names of the rest.

Which variable holds a secret cannot be told from its name or value; which ones explain a timing is
known. So values are stored by a list of what is allowed; of any other variable its name, and a
keyed hash by which a later session sees that it changed.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping
from typing import Any

from .key_file import VariableKey
from .redaction import names_a_secret, redact_text

# What they are about -> the names; a trailing * stands for any end. docs/environment.md shows it.
ALLOWED: Mapping[str, tuple[str, ...]] = {
    "places": ("PATH", "HOME", "PWD", "OLDPWD", "TMPDIR", "SHELL"),
    "language and time": ("LANG", "LANGUAGE", "LC_*", "TZ", "TERM", "POSIXLY_CORRECT"),
    "loader and C library": (
        *("LD_LIBRARY_PATH", "LD_PRELOAD", "LD_BIND_NOW", "LD_AUDIT", "GLIBC_TUNABLES"),
        *("MALLOC_*", "JE_MALLOC_CONF", "TCMALLOC_*", "MIMALLOC_*"),
    ),
    "compilers": (
        *("CC", "CXX", "CPP", "LD", "AR", "AS", "NM", "RANLIB", "STRIP", "FC", "F77"),
        *("CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LDLIBS", "LIBS", "ASFLAGS", "FFLAGS"),
        *("FCFLAGS", "ARCHFLAGS", "MAKEFLAGS", "MFLAGS", "CPATH", "C_INCLUDE_PATH"),
        *("CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "PKG_CONFIG_PATH", "SOURCE_DATE_EPOCH"),
        *("ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"),
    ),
    "threads and devices": (
        *("OMP_*", "GOMP_*", "KMP_*", "MKL_*", "OPENBLAS_*", "BLIS_*", "VECLIB_*", "NUMEXPR_*"),
        *("TBB_*", "RAYON_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"),
        "ROCR_VISIBLE_DEVICES",
    ),
    "Python": (
        *("PYTHONPATH", "PYTHONHOME", "PYTHONHASHSEED", "PYTHONOPTIMIZE", "PYTHONMALLOC"),
        *("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONUTF8", "PYTHONIOENCODING"),
        *("PYTHONNOUSERSITE", "PYTHON_GIL", "PYTHON_JIT", "VIRTUAL_ENV", "CONDA_PREFIX"),
        *("CONDA_DEFAULT_ENV", "NUMBA_NUM_THREADS", "NUMBA_CPU_NAME"),
    ),
    "Java and JavaScript": (
        *("JAVA_HOME", "CLASSPATH", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"),
        *("NODE_ENV", "NODE_OPTIONS", "UV_THREADPOOL_SIZE"),
    ),
    "Go and Rust": (
        *("GOARCH", "GOOS", "GOAMD64", "GOARM64", "GOFLAGS", "GOGC", "GOMAXPROCS", "GOMEMLIMIT"),
        *("GODEBUG", "GOROOT", "GOPATH", "GOTOOLCHAIN", "CGO_ENABLED", "CGO_CFLAGS", "CGO_LDFLAGS"),
        *("RUSTFLAGS", "RUSTC", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "CARGO_HOME"),
        *("CARGO_TARGET_DIR", "RUST_BACKTRACE", "RUST_MIN_STACK"),
    ),
    "R and Julia": (
        *("R_HOME", "R_LIBS", "R_LIBS_USER", "JULIA_NUM_THREADS", "JULIA_PROJECT"),
        "JULIA_DEPOT_PATH",
    ),
    "compressors": ("GZIP", "XZ_OPT", "XZ_DEFAULTS", "ZSTD_CLEVEL", "ZSTD_NBTHREADS"),
    "batch system": (
        *("SLURMD_NODENAME", "SLURM_CLUSTER_NAME", "SLURM_CPU_FREQ_REQ", "SLURM_CPUS_ON_NODE"),
        *("SLURM_CONF", "SLURM_JOBID", "SLURM_JOB_ACCOUNT", "SLURM_JOB_CPUS_PER_NODE"),
        *("SLURM_JOB_GID", "SLURM_JOB_ID", "SLURM_JOB_NAME", "SLURM_JOB_NODELIST"),
        *("SLURM_JOB_PARTITION", "SLURM_JOB_QOS", "SLURM_JOB_UID", "SLURM_JOB_USER"),
        *("SLURM_NODELIST", "SLURM_RESTART_COUNT", "SLURM_SUBMIT_DIR", "SLURM_SUBMIT_HOST"),
        *("SLURM_TASK_PID", "SLURM_TOPOLOGY_ADDR", "SLURM_TOPOLOGY_ADDR_PATTERN"),
        "SLURM_WORKING_CLUSTER",
    ),
    "fairtrial": ("FAIRTRIAL_PADDING",),
}
_IS_ALLOWED = re.compile(
    "|".join(fnmatch.translate(name) for names in ALLOWED.values() for name in names)
)
_SHORTEST = 4  # characters of a value that is looked for in texts; "1" stands everywhere
_LONG = 8  # characters of a value that is found inside words too, as in -pSECRET


def _sought(value: str) -> str:
    """Give a pattern for a value; a short one that is a word is no part of another word."""
    pattern = re.escape(value)
    if len(value) >= _LONG:
        return pattern
    return rf"(?<!\w){pattern}(?!\w)" if re.fullmatch(r"\w+", value) else pattern


def allowed(variables: Mapping[str, str]) -> dict[str, str]:
    """Give the variables whose values may be stored, sorted by name: none whose name speaks of a secret."""
    return {
        name: variables[name]
        for name in sorted(variables)
        if _IS_ALLOWED.match(name) and not names_a_secret(name)
    }


def stored_variables(
    variables: Mapping[str, str], key: VariableKey, home: str | None
) -> dict[str, Any]:
    """Give what is stored of environment variables, as JSON types.

    Parameters
    ----------
    variables : mapping of str to str
        The variables.
    key : VariableKey
        Makes the hashes of the values that are not stored.
    home : str or None
        The home folder, which is written as ``~``.

    Returns
    -------
    dict
        ``variables``: values of those that are allowed; ``hidden_variables``: ``key``, by which
        hashes can be compared, and ``hashes``, name -> HMAC-SHA256 or None without a key.
    """
    shown = allowed(variables)
    hidden = sorted(variables.keys() - shown.keys())
    return {
        "variables": {name: redact_text(value, home) for name, value in shown.items()},
        "hidden_variables": {
            "key": key.name,
            "hashes": {name: key.hash_of(name, variables[name]) for name in hidden},
        },
    }


class Concealed:
    """Takes values that may not be stored out of texts of programs.

    Parameters
    ----------
    variables : mapping of str to str
        The variables that the programs see. Values shorter than four characters are not looked
        for.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        hidden = variables.keys() - allowed(variables).keys()
        self._names = {
            variables[name]: name for name in sorted(hidden) if len(variables[name]) >= _SHORTEST
        }
        values = sorted(self._names, key=len, reverse=True)
        self._values = re.compile("|".join(map(_sought, values)) or r"(?!)")

    def text(self, text: str) -> str:
        """Give the text with each value replaced by its variable's name."""
        return self._values.sub(lambda match: f"<value of {self._names[match[0]]}>", text)
