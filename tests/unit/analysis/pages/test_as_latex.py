"""LaTeX by its letters: booktabs' rules, siunitx's columns, nothing of a name's is a command."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from analysis.pages.as_markup import escaped, numeral, render_latex
from analysis.pages.model import (
    Caution,
    Column,
    CommandLine,
    Figure,
    Page,
    Section,
    Sentence,
    Table,
    Value,
)


def page(*sections, **more):
    return Page(title="A & B", sections=sections, **more)


def test_a_table_is_aligned_at_the_points_of_its_numbers():
    columns = (Column("", "left"), Column("time"), Column("speedup"), Column("word", "left"))
    rows = (
        ("a_b", Value("40.2 ms", 0.0402), Value("2.71", 2.71), "faster"),
        ("[c]", Value("16\N{NO-BREAK SPACE}%", 0.16), Value("-0.997", -0.997), ""),
        ("d", Value("", None), Value("", None), "x" * 30),
    )
    table = Table(name="some_times", columns=columns, rows=rows, notes=("", "50 %", ""))
    lines = render_latex(page(Section((table,), title="t"))).splitlines()
    start = lines.index(r"\toprule")
    assert lines[start - 5 :] == [
        r"\begin{table}[htbp]",
        r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
        r"\caption{t}\label{tab:ft-some-times}",
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        r"\begin{tabular}{lrS[table-format=-1.3]>{\raggedright\arraybackslash}p{0.3\linewidth}}",
        r"\toprule",
        r"{} & {time} & {speedup} & {word} \\",
        r"\midrule",
        r"{a\_b} & \SI{40.2}{\milli\second} & 2.71 & {faster} \\",
        r"{[c]} & \SI{16}{\percent} & -0.997 & {} \\",
        r"\multicolumn{4}{l}{50 \%} \\",
        rf"{{d}} & {{}} & {{}} & {{{'x' * 30}}} \\",
        r"\bottomrule",
        r"\end{tabular}}",
        r"\end{table}",
    ]


def test_a_long_table_goes_on_over_pages():
    rows = tuple((f"b{k}", Value(f"{k}", k)) for k in range(60))
    table = Table(name="t", columns=(Column("", "left"), Column("n")), rows=rows, headed=False)
    text = render_latex(page(Section((table,))))
    assert text.count(r"\begin{longtable}{lS[table-format=2.0]}") == 1
    assert r"\endhead" in text
    assert r"\midrule" not in text


def test_the_other_parts_of_a_page():
    picture = Figure(name="f", alt="a picture", draw=lambda: None)
    text = render_latex(
        page(
            Section(
                (Sentence("[1] 5 % & more"), Section((CommandLine("run --x_y"), picture), "deep")),
                "t",
            ),
            cautions=(Caution("x", "beware"),),
            following=(Section((Sentence("then"),)),),
        )
    )
    assert text.split("\n\n")[1:] == [
        r"\section*{A \& B}",
        r"\subsection*{t}",
        r"{}[1] 5 \% \& more",
        r"\subsubsection*{deep}",
        r"\noindent\texttt{run {-}{-}x\_y}\par",
        "\\subsection*{Cautions}\n\\begin{enumerate}\n\\item {}beware\n\\end{enumerate}",
        "then\n",
    ]


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
