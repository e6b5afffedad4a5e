"""Pages that show a search or a training run: one file each, with nothing to install and nothing to load."""
