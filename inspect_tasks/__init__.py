"""What Inspect reads: @task functions only."""
