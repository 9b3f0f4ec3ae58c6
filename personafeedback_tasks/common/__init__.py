"""What every room uses: errors, strict JSON, atomic file writes, untrusted text made safe, text, statistics.

In: bytes and numbers. Out: parsed values, means with their errors. It knows no benchmark and no harness.
"""
