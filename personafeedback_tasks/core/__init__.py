"""What every benchmark shares: its record, its options, its cases, the signature of a run, the table of its metrics.

In: one `Benchmark` per benchmark. Out: everything that the harness rooms, the log readers and the reports need to know about it.
"""
