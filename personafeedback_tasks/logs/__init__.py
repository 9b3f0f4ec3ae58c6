"""Logs of either harness -> runs: model, options and the answers to every case, checked against each other.

In: the files that a harness wrote. Out: `Run`. A log of lm-eval is read without lm-eval.
"""
