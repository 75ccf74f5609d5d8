"""Essential graphs (CPDAGs): the value (`essential_graph`), what makes one valid (`characterization`), Meek's
rules, chain components and chordality, JSON, and the comparison of two.
"""
