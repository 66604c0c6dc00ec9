"""Makes the files of the harness importable: it is a folder that Python runs, not a package."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[i]) for i in (1, 2)]
