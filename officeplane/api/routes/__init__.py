"""The API's paths, a file for each noun."""
