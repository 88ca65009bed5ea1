"""The corpus: folders that are tests of an adapter."""
