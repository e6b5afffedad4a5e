"""The laboratory: what regenerates this repository's documents. `python -m experiments` lists it.

An experiment is a module with `EXPERIMENT`: what it shows, its settings in sizes from smoke to paper, and a function
from settings and a folder to a report, a table and pictures.
"""
