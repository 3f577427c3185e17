"""What tests/measure measures: a module a measurement, found by the name of its file; what they share is in common.py."""
