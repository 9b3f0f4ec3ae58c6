"""Runs -> reports, comparisons, tables, the page, the model card.

In: runs and, if available, their cases. Out: text, JSON and pictures.
"""

from ..common.errors import require

for _module in ("rich", "scipy", "jinja2"):
    require(_module, extra="report")
