"""Cassettes: a test's exchanges in one file, exact, reviewable, and loaded without running code."""
