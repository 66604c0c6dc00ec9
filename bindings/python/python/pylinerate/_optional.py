"""Checks for packages that only some modules need, and names the extras that install them."""

from __future__ import annotations

from importlib import import_module


def require(package: str, extra: str) -> None:
    """Raises an ``ImportError`` that names ``extra`` unless ``package`` can be imported."""
    try:
        import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        text = f'this part of pylinerate needs {package}: pip install "pylinerate[{extra}]"'
        raise ModuleNotFoundError(text, name=package) from None
