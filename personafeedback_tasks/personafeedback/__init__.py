"""The benchmark itself: its release, cases, prompts, orders, scores, baselines and audit.

In: the files of a release and the answers of a model. Out: prompts, scores, findings. It imports no harness.
"""
