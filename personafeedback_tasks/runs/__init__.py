"""Logs of either harness -> runs: who was asked what, and the answers of every case, checked against each other.

In: the files that a harness wrote. Out: `Run`. A log of lm-eval is read without lm-eval.
"""
