"""Personas, questions and answers: prompts to models, checks of their replies, and the pairs that people compare.

In: seeds, personas and questions of a team, models. Out: people.csv, questions.csv, answers.jsonl, pairs.jsonl.
"""
