import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[i]) for i in (1, 2)]
