"""One module for each fault, in rooms by what it is about; a room is named after the letters of its ids."""
