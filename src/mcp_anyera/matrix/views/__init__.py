"""Views of a result: a terminal, Markdown and one page."""
