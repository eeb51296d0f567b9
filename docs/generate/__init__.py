"""The generated half of the documentation: everything that already stands in the catalogue or in the code."""
