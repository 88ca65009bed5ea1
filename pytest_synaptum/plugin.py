"""The pytest entry point: hooks, options and fixtures as doors; imports only pytest at the top."""
