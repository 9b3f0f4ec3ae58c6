"""The adapter to lm-evaluation-harness: the class that the YAML files in `task_configs/` name.

In: a benchmark's cases and options. Out: what lm-eval runs, and logs.
"""

from ..common.errors import require

require("lm_eval", extra="lm-eval")
