"""Pure parsers, one for each command; what the text does not say for sure is refused with line and column."""
