"""GR: generic resources, in gres.conf and on node lines."""
