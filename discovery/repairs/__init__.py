"""From any mixed graph to the nearest valid essential graph, with a list of what was changed and why."""
