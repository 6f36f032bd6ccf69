"""Looks at a host, one module for each part of it; a look yields a cause where it sees one."""
