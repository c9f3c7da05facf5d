"""A path that may be a file, or a variant of another file, whichever direction that file has.

Authority: both files are there.
"""

from __future__ import annotations

import pytest

from analysis.errors import UsageError
from analysis.importers.reader import trial_and_variant


@pytest.mark.parametrize("better", ["higher", "lower", ""])
def test_a_variant_and_a_file_of_one_name_are_both_found(tmp_path, better) -> None:
    rows = "".join(f"b,{v},{k},{better}\n" for k, v in enumerate(("old", "new", "old", "new"), 1))
    for name in ("r.csv", "r.csv:new"):
        (tmp_path / name).write_text(f"benchmark,variant,value,better\n{rows}")
    with pytest.raises(UsageError, match=r"this may be the file .*, or the variant 'new'"):
        trial_and_variant(str(tmp_path / "r.csv:new"))
    # the control: no such variant
    (tmp_path / "r.csv:x").write_text(f"benchmark,variant,value,better\n{rows}")
    assert trial_and_variant(str(tmp_path / "r.csv:x")) == (tmp_path / "r.csv:x", None)
