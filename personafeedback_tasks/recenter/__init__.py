"""The three stages of personalization, judged against people (arXiv 2606.06614): its rows, sample and importer.

In: a folder with people's judgments, or the authors' annotation files. Out: rows, one type per
stage. It imports no harness.
"""
