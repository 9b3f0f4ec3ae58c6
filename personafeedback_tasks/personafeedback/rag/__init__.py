"""The setting `rag`: the pieces of a user's memory that are most relevant to a question, and the model's own filter of them.

In: a user's memory file (content that this person would consume) and a question. Out: the pieces that a prompt shows.
"""
