"""What every room may use: errors, findings, releases, host lists, files, commands."""
