"""`--synaptum-report FILE.html`: one page of the run that opens offline.

A test's fixtures hand in what they saw (`parts`); when the test is over that becomes plain
JSON without secrets (`payload`, `cleaning`) and travels on the test's report, so that a
worker of xdist sends it home like any other outcome (`collecting`). At the end the page is
written, whole or not at all (`page`).
"""
