"""Machine-made mutants of kernels, as schemata: every mutant of a file in one build, chosen at run time."""
