#!/bin/sh
# Prints the path of a suitable Python: $PYTHON where set, else the newest of 3.13 to 3.11 on PATH.
suitable='
import sys
try:
    import ensurepip, venv
except ImportError:
    sys.exit("without the venv module")
if not (3, 11) <= sys.version_info[:2] <= (3, 13):
    sys.exit("version %d.%d" % sys.version_info[:2])
'
seen=""
if [ -n "$PYTHON" ]; then
    set -- "$PYTHON"
else
    set -- python3.13 python3.12 python3.11 python3
fi
for name; do
    if ! path=$(command -v "$name"); then
        seen="$seen  $name: not found
"
    elif why=$("$path" -c "$suitable" 2>&1); then
        echo "$path"
        exit 0
    else
        seen="$seen  $path: $(echo "$why" | sed -n '$s/^ *//p')
"
    fi
done
cat >&2 <<END
The workbench needs Python 3.11, 3.12 or 3.13 with its venv module. Looked at:
${seen}Install one (Debian, Ubuntu: apt-get install python3 python3-venv; macOS: the installer of
python.org), or name one that is elsewhere: make lab PYTHON=/path/to/python3.13
END
exit 1
