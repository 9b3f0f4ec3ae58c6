"""PrefEval (arXiv 2502.09597): which of four responses respects a preference that the user stated?

In: a folder with the authors' multiple-choice files. Out: the record of the benchmark, for both harnesses.
"""
