"""`python -m lga` is `lga`."""

from lga.cli import main

main()
