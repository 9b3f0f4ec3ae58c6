"""What Inspect loads through the entry point `inspect_ai`: the tasks and the judges."""

from .inspect_judges import Judge
from .inspect_task import both_orders
from .inspect_tasks import personafeedback as tasks

__all__ = ["Judge", "both_orders", "tasks"]
