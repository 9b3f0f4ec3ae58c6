"""What Inspect reads: @task functions only. Run one by name or, from a checkout, by path:

inspect eval personafeedback_tasks/personafeedback_general_hard --model openai/gpt-4o
inspect eval inspect_tasks/personafeedback.py@personafeedback_general_hard --model openai/gpt-4o
"""

from personafeedback_tasks.common.errors import require

require("inspect_ai", extra="inspect")
