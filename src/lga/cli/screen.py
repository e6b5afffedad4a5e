"""Where tables are printed."""

from rich.console import Console


def table_console() -> Console:
    """As wide as the terminal; wide enough for a table where the output goes to a file."""
    console = Console()
    return console if console.is_terminal else Console(width=max(console.width, 120))
