"""The harness is a folder that Python runs, not a package: its files are found by this."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
