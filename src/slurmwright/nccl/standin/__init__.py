"""Stand-ins, named as such: nothing here measures anything."""
