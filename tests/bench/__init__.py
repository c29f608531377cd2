"""Measurements, run by hand with `nox -s bench`: ratios against what ran in the same rounds."""
