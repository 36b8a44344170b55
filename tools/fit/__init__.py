"""Fits the models by which adaptive rungs choose. See __main__.py."""
