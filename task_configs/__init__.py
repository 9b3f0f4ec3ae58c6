"""What lm-eval reads: YAML files only. See README.md in this folder."""
