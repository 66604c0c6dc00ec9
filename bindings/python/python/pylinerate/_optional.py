"""Checks for packages that only some modules need, and names the extras that install them."""

from __future__ import annotations

from importlib import import_module


def require(package: str, extra: str) -> None:
    """Imports ``package``. If it is not installed, raises a ``ModuleNotFoundError`` that says to
    install the extra ``extra`` of pylinerate. Other errors of the import are not changed."""
    try:
        import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        text = f'this part of pylinerate needs {package}: pip install "pylinerate[{extra}]"'
        raise ModuleNotFoundError(text, name=package) from None
