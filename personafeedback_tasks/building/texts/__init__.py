"""Personas, questions and answers: what models are asked, what comes back, what is refused, and which pairs people compare.

In: seeds, personas and questions of a team, models. Out: people.csv, questions.csv, answers.jsonl, pairs.jsonl, with refused.jsonl and
provenance.jsonl.
"""
