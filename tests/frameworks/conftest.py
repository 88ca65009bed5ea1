"""Other frameworks, in an environment of their own: `scripts/frameworks-suite`."""

import importlib.util

collect_ignore_glob = (
    [] if importlib.util.find_spec("langgraph") else ["test_langgraph*.py", "graph_agent.py"]
)
