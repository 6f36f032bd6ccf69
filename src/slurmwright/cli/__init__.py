"""One file per verb: read, call one function, report, exit."""
