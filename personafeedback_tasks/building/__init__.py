"""Building your own set: personas, questions, answers, packs, votes, tiers, release; and pairs to train a reward model on.

In: seeds, personas, questions or pairs of a team, models, people's votes. Out: a release with a set.json.
"""
