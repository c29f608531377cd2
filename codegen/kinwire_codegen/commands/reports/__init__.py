"""A comparison as text, as JSON, as annotations of a pull request, and as a changelog."""
