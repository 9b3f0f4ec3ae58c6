"""Labels, tiers, agreement, and the data set with its card.

In: votes, or labels of imported pairs. Out: tiers.jsonl, below.jsonl, tiers.json, release/.
"""
