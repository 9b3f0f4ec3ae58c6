"""What a model said -> a label of a closed set, or the reason why it is not one.

In: the text of a reply, or the likeliest tokens at one place of it. Out: a letter, a reason, or log-probabilities.
"""
