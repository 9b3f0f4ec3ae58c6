"""The adapter to Inspect: tasks, solvers, scorers, metrics, the judges and reward models as model APIs.

In: a benchmark's cases and options. Out: what Inspect runs, and logs.
"""

from ..common.errors import require

require("inspect_ai", extra="inspect")
