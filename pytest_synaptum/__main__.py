"""`python -m pytest_synaptum` is `synaptum-corpus`."""

import sys

from pytest_synaptum.cli import main

sys.exit(main())
