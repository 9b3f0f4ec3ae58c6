"""The second benchmark on the same data: a model writes replies, a judge compares them with the release's responses.

In: the cases of PersonaFeedback. Out: questions to write for, and data folders of duels.
"""
