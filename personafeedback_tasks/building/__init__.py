"""The way to a set of one's own: personas, questions, answers, packs, votes, tiers, release; and pairs to train a reward model on.

Each step reads what the step before left in the build's folder, see folder.py, and adds its own.

In: seeds, personas, questions or pairs of a team, models, people's votes. Out: a release with a set.json.
"""
