"""What every room uses: errors, strict JSON, files written whole, text of others made safe, text. It knows no benchmark and no harness."""
