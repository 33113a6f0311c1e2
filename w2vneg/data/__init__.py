"""Reading data: files and catalogue names become tokens, vocabularies and ids; splits into training and test parts."""
