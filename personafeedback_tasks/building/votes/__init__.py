"""What annotators are sent, and what comes back.

In: pairs, files of annotators, models that vote. Out: packs/, votes.jsonl, dropped.csv.
"""
