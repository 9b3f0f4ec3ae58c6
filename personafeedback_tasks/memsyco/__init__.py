"""MemSyco-Bench (arXiv 2607.01071): does a model keep the right answer when its memory of the user favors the wrong one?

In: a folder with the authors' files. Out: the record of the benchmark, for both harnesses.
"""
