"""A trained filter of relevance: logistic regression over frozen sentence embeddings, evaluated on unseen users.

The intervention of arXiv 2606.06614, which lets a trained filter decide what a model is told about a user.
"""
