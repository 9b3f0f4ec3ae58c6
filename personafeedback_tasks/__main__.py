"""`python -m personafeedback_tasks`: the same as the command `personafeedback`."""

from .cli.main import main

main(prog_name="personafeedback")
