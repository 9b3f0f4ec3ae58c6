"""Judgements by people: items go out in packs, votes come back.

In: items. Out: pages, tables and projects of tools to send to annotators; their answers.
"""
