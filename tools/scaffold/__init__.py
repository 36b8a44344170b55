"""Writes the files that a new operator, variant, mutant or plug-in begins with: `tools/plumb new-op` and its
like."""
