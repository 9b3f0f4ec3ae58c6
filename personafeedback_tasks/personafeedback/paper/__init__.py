"""What the paper (arXiv 2506.12915) reports, as data, and its models.

In: the transcribed tables. Out: rows that stand beside a run and are never mixed with it, and commands that rerun the paper.
"""

from __future__ import annotations
