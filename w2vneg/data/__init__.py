"""What is read: files and names to tokens, vocabularies and ids; parts to train on and to hold out."""
