"""Statistics over users: estimates with intervals, tests and power, agreement, and win rates behind a judge that errs."""
