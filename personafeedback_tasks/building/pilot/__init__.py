"""A pilot: the texts of a few persons on one page to read, with what they and the whole build cost.

In: a build. Out: pilot.html, and keep = no in people.csv and questions.csv for what somebody drops on the page.
"""
