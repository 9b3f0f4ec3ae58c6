"""A question, a user, and responses of which one is right: what every benchmark of this kind shares.

In: the responses of a case, and the answers of a model. Out: the orders in which they are shown, and scores.
"""
