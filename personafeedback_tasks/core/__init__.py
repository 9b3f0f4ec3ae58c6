"""What every benchmark shares: its record, its options, its cases, the signature of a run, the table of its metrics.

In: one `Benchmark` per benchmark. Out: all that harness rooms, log readers and reports need to know about it.
"""
