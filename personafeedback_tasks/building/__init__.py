"""Building your own set: personas, questions, answers, votes, tiers, release; and pairs for a reward model.

In: seeds, personas, questions or pairs of a team, models, people's votes. Out: a release with a set.json.
"""
