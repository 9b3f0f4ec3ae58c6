"""Pairs to train a reward model on, of persons whom no test data knows.

In: answers and labels of the training persons, the test data to compare with. Out: training/train.jsonl.
"""
