"""What a rehearsal tries, one module per verdict, in the order in which they run."""
