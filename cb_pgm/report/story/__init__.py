"""A search told step by step: what was known before and after each answer, and a picture of it."""
