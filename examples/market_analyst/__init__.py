"""The market analyst: one agent, one task, on five tool surfaces. See README.md."""
