"""LaTeX by its letters: booktabs' rules, siunitx's columns, nothing of a name's is a command."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from analysis.pages.as_markup import escaped, numeral, render_latex
from analysis.pages.model import Column, CommandLine, Page, Section, Sentence, Table, Value


def page(*sections, **more):
    return Page(title="A & B", sections=sections, **more)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("gzip-1", "gzip-1"),
        ("a\\b{c}", r"a\textbackslash{}b\{c\}"),
        ("$#&%_^~", r"\$\#\&\%\_\textasciicircum{}\textasciitilde{}"),
        ("±1 µs × 2", r"\ensuremath{\pm}1 \ensuremath{\mu}s \ensuremath{\times} 2"),
        ("née Łódź", "née Łódź"),
        ("日\n", r"\ftUnicode{日}{65E5}\ftUnicode{␊}{240A}"),
        ("Student’s “t”", "Student's ``t''"),
        ("``q'' --", r"{`}{`}q{'}{'} {-}{-}"),
    ],
)
def test_each_sign_is_itself(text, told):
    assert escaped(text) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2.71", r"\num{2.71}"),
        ("1.2e-05", r"\num{1.2e-05}"),
        ("3.0 MB/s", r"\num{3.0}~MB/s"),
        ("-", "{-}"),
        ("> 100", r"{\textgreater{} 100}"),
    ],
)
def test_numbers_are_siunitxs(text, told):
    assert numeral(text) == told


HOSTILE = (
    "\\end{document}",
    "a_b$%&#{}~^\\",
    "[x]",
    "*",
    "日本\n\0",
    "ŉđ§©ß « »",
    "^^M^^5c",
    "?` !`",
)
PAPER = r"""\documentclass{article}
\usepackage{array,booktabs,graphicx,longtable,siunitx}
\begin{document}
\input{report}
END
\end{document}
"""


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="LaTeX is not installed")
def test_latex_reads_it(tmp_path):
    rows = tuple((text, Value("40.2 ms", 0.04), Value("1.50", 1.5)) for text in HOSTILE)
    columns = (Column("_", "left"), Column("%"), Column("#"))
    sections = [Section((Sentence(text), CommandLine(text)), title=text) for text in HOSTILE]
    told = page(Section((Table(name="a_b", columns=columns, rows=rows),)), *sections)
    (tmp_path / "report.tex").write_text(render_latex(told), "utf-8")
    (tmp_path / "paper.tex").write_text(PAPER)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-draftmode", "paper.tex"]
    done = subprocess.run(
        command, check=False, cwd=tmp_path, capture_output=True, text=True, errors="replace"
    )
    if "siunitx.sty' not found" in done.stdout:
        pytest.skip("LaTeX is not installed")
    assert done.returncode == 0, done.stdout[-2000:]
