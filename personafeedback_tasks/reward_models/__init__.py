"""Reward models: a sequence classifier of transformers that scores conversations.

In: a folder or a Hub id, and conversations. Out: rewards.
"""

from ..common.errors import require

for _module in ("torch", "transformers", "accelerate"):
    require(_module, extra="reward")
