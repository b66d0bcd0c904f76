"""Where an installer has put the command."""

import os
import sys
import sysconfig


def find_callgate() -> str:
    """The path of the command that was installed with this module."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders = [
        # A virtual environment, or the system.
        sysconfig.get_path("scripts"),
        # `pip install --user`
        sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user"))
        if hasattr(sysconfig, "get_preferred_scheme")
        else sysconfig.get_path("scripts", scheme="posix_user"),
        # `pip install --target` and `--prefix`
        os.path.join(here, "bin"),
        os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(here))), "bin"),
    ]
    for folder in folders:
        command = os.path.join(folder, "callgate")
        if os.path.isfile(command):
            return command
    # A hook that cannot ask is not to be taken for leave to go on.
    print(f"error: callgate is in none of {', '.join(folders)}", file=sys.stderr)
    raise SystemExit(2)
