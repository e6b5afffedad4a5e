"""Families of real problems, to train for."""
