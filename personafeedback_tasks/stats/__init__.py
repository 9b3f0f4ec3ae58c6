"""Statistics over users: estimates with intervals, tests and power, agreement, win rates behind a judge that errs."""
