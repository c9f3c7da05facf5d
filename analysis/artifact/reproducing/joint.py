"""The report on a trial and its rerun together: one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from ...data import read_trial
from ...errors import AnalysisError
from ...report import as_html, page_of
from ...verdict import judge
from ...words import shown
from .rerun import Rerun, RerunTrial

__all__ = ["joint_report"]

# no request at all: what is in the bundle may be hostile
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = """:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:0 auto;padding:1rem}
table{border-collapse:collapse;display:block;overflow-x:auto;margin:1rem 0}
td:not(:last-child){white-space:nowrap}
th,td{padding:.15rem .7rem;border-bottom:1px solid #8886;font-variant-numeric:tabular-nums}
pre{overflow-x:auto}"""


def joint_report(found: Rerun) -> str:
    """Give the page: the answer, then each trial's comparison, and both verdicts.

    Parameters
    ----------
    found : Rerun
        What measuring again has shown.
    """
    title = shown(f"{found.bundle}, measured again: {found.word}")
    body = "\n".join(line for one in found.trials for line in _trial(one, found.metric))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{escape(title)}</h1>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _trial(one: RerunTrial, metric: str | None) -> Iterator[str]:
    yield f"<h2>{escape(shown(one.name))}: {one.word}</h2>"
    if one.comparison is None:
        yield f"<p>{escape(shown(one.reason or ''))}</p>"
    else:
        yield as_html.render(page_of(one.comparison))
        metric = one.comparison.metric
    for said, path in (("as it was received", one.old), ("as it was measured here", one.new)):
        yield f"<h3>The verdict on the trial {said}</h3>"
        try:
            trial = read_trial(Path(path))
            yield as_html.render(page_of(judge(trial, metric=metric)))
        except AnalysisError as error:
            yield f"<p>{escape(shown(str(error)))}</p>"
