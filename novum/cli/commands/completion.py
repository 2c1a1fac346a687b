"""novum completion bash|zsh|fish: the script for a shell's start-up file.

All three ask `novum __complete <line up to the cursor>`, which looks only at what is
remembered on this machine (and asks the server only where nothing is).
"""

from novum.cli import output
from novum.cli.errors import Usage
from novum.cli.options import Given

# bash splits words at = and : too, and wants only what comes after the last of them.
BASH = r"""
_novum() {
    local line="${COMP_LINE:0:COMP_POINT}" word one
    word="${line##*[[:space:]]}"
    COMPREPLY=()
    while IFS= read -r one; do
        case "$word" in *[=:]*) one="${one#"${word%"${word##*[=:]}"}"}" ;; esac
        COMPREPLY+=("$one")
    done < <(novum __complete "$line" 2>/dev/null)
    case "${COMPREPLY[0]-}" in *=) compopt -o nospace ;; esac
}
complete -o default -F _novum novum
"""
ZSH = r"""
#compdef novum
_novum() {
    local -a found
    found=("${(@f)$(novum __complete "${(j: :)words[1,CURRENT]}" 2>/dev/null)}")
    [[ -z "${found[*]}" ]] && { _files; return }
    compadd -S '' -- ${(M)found:#*=}
    compadd -- ${found:#*=}
}
compdef _novum novum
"""
FISH = r"""
complete -c novum -f -a '(novum __complete (commandline -cp | string collect) 2>/dev/null)'
"""
SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def run(given: Given) -> int:
    given.allow()
    given.expect_words(2)
    name = given.words[1] if given.words[1:] else ""
    if name not in SCRIPTS:
        raise Usage(f"novum completion {'|'.join(SCRIPTS)}")
    output.write(SCRIPTS[name].strip())
    return 0
