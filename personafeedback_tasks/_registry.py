"""What Inspect loads through the entry point `inspect_ai`: the tasks, the scorers, the judges and reward models."""

from .inspect_harness.judges import Judge
from .inspect_harness.logprobs import letter_logprobs
from .inspect_harness.reward import both_responses, reward_models
from .inspect_harness.tasks import both_last_lines, both_orders
from .inspect_tasks import personafeedback as tasks

__all__ = ["Judge", "both_last_lines", "both_orders", "both_responses", "letter_logprobs", "reward_models", "tasks"]
