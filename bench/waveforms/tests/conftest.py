"""Makes the files of the harness importable: it is a folder that Python runs, not a package."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
