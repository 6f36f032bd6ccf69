"""Engine `machines`: runs a bundle on virtual machines that the playbooks bring into service over SSH."""
