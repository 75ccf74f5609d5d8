"""Blocks of a page and their rendering as HTML; figures as SVG inside it. Knows nothing of bandits."""
