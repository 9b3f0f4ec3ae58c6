"""PersonaFeedback: release, cases, prompts, orders, scores, baselines and audit. It imports no harness."""
