"""What can go wrong."""


class Error(Exception):
    """A message of the program, as it printed it."""


class InputError(Error, ValueError):
    """A spec, an option or a folder is not as it should be (exit code 64)."""


class InfrastructureError(Error, RuntimeError):
    """The machine is not as it should be: no compiler, no GPU, a full disk, a baseline that fails, an interrupt (exit code 3)."""


class LoadError(Error, RuntimeError):
    """The kernel cannot be made a function here."""
