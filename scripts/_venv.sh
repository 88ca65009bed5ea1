# Sourced by the other scripts: finds a Python, makes a virtual environment, installs what is asked.

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
fail() { printf '%s\n' "$*" >&2; exit 1; }

# The first Python from 3.11 on; PYTHON overrides.
find_python() {
  local candidate
  for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11 python; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  fail "No Python 3.11 or later was found: install one, or name it as PYTHON=/path/to/python."
}

# ensure_venv FOLDER PIP_ARGUMENT...: makes FOLDER and installs; does nothing when neither
# pyproject.toml nor the arguments changed since.
ensure_venv() {
  local folder=$1 python stamp wanted
  shift
  stamp="$folder/.installed"
  wanted="$* $(cksum < pyproject.toml)"
  if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then return; fi
  if ! [ -x "$folder/bin/python" ]; then
    python=$(find_python)
    say "making the virtual environment $folder ($("$python" --version))"
    "$python" -m venv "$folder" || fail "\
$python cannot make a virtual environment; on Debian and Ubuntu: apt-get install python3-venv"
  fi
  say "installing into $folder: $*"
  # --group (dependency groups) came with pip 25.1.
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
  # One line a package as it comes, so that a long installation is seen to move.
  "$folder/bin/python" -m pip install --disable-pip-version-check --progress-bar off "$@" \
    > >(grep --line-buffered -oE '^(Collecting [^ ]+|Successfully installed)' || true) || fail "\
The installation failed (pip's own words are above): is the package index reachable from here?"
  printf '%s' "$wanted" > "$stamp"
}
