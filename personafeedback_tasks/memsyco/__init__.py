"""MemSyco-Bench (arXiv 2607.01071): is the right answer kept when the user's memory favors the wrong one?

In: a folder with the authors' files. Out: the record of the benchmark, for both harnesses.
"""
