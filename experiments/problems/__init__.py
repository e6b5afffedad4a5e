"""Problems that people bring: `catalogue.PROBLEMS` has all of them, by name."""
