"""The check that a run stopped anywhere, in any way, ends as the run that was not stopped.

`check` runs it; `stops` says how a run can be stopped, `boundaries` where; `tape` gives every
run the same answers; `passage` runs an agent of ours, `protocol` anybody's; `judge` compares,
`causes` guesses why, `report` shows it; `children` and `perturb` are other processes.
"""
