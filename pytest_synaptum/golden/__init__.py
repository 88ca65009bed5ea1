"""Goldens: expected values kept in files, compared strictly and written only when asked."""
