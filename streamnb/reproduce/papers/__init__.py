"""The experiments, one file a paper, and how a paper prepares its texts.

Every file here is imported with the folder, so that a new one registers its experiments by itself.
"""

from __future__ import annotations

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
