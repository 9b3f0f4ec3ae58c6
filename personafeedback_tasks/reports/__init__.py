"""Runs -> what may be said about them: reports, comparisons, tables, the figure, the model card.

In: runs and, where they are at hand, the cases that were asked. Out: text, JSON and pictures.
"""

from ..common.errors import require

for _module in ("rich", "scipy", "matplotlib"):
    require(_module, extra="report")
