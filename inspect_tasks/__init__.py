"""What Inspect reads: @task functions only."""

from personafeedback_tasks.errors import require

require("inspect_ai", extra="inspect")
