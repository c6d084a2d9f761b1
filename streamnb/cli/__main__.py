"""Run the command as `python -m streamnb.cli`."""

import sys

from streamnb.cli import main

sys.exit(main())
