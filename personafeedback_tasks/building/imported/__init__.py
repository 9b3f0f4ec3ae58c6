"""Existing pairs -> a build.

In: a file, a folder, or a dataset. Out: the files of a build up to its labels.
"""
