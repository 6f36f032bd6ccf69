"""OP: keys, values and words, as the catalogue knows them for each release."""
