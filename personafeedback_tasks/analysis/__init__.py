"""Runs -> numbers about them: accuracies, gains, agreement, ranks, verdicts.

In: runs and, if available, their cases. Out: records of values with their uncertainty.
"""

from ..common.errors import require

require("scipy", extra="report")
