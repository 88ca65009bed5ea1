"""synaptum: a small agent framework on the standard library alone."""
