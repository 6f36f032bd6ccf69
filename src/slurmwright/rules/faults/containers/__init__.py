"""CT: enroot, pyxis and the SPANK plugins."""
