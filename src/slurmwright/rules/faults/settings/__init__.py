"""CF: the configuration at large: logs, configless, parameters at odds."""
