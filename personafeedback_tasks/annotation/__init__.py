"""What people are shown and asked, and what comes back.

In: items. Out: pages, tables and projects of tools to send to annotators; their answers.
"""
