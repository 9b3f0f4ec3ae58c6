"""What every room uses: errors, strict JSON, files that are written whole, text of strangers made safe, text, statistics.

In: bytes and numbers. Out: parsed values, means with their errors. It knows no benchmark and no harness.
"""
