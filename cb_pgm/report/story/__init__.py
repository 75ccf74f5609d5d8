"""A search step by step: what was known before and after each answer (`replay`), in words and pictures."""
