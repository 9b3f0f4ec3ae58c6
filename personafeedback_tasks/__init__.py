"""PersonaFeedback (arXiv 2506.12915) as a plugin for lm-evaluation-harness and Inspect.

The data flow one way: release -> case -> two prompts -> (a harness and its model) -> reply -> answer -> score -> report.
Importing this package imports no harness.
"""

__version__ = "0.1.0"

TASK_VERSION = "1.4"
"""Rises whenever a score can move: a prompt, the reading of a reply, a metric, the pinned data. See CHANGELOG.md."""
