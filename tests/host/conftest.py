"""What tests of this machine take from the rooms whose parts they execute for real."""

from tests.unit.harness.conftest import *  # noqa: F403
from tests.unit.harness.why.conftest import listening, make_tiny, tiny  # noqa: F401
