"""What Inspect reads: @task functions only."""

from personafeedback_tasks.common.errors import require

require("inspect_ai", extra="inspect")
