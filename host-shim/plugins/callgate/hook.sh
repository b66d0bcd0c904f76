#!/bin/sh
# Asks the program `callgate` about a call that the agent is about to make. Every end but 0 denies the call.

deny() {
	echo "callgate: $1" >&2
	exit 2
}

# The program is looked for in the PATH alone: what lies in a project could be anybody's.
root=$(cd "$(dirname "$0")" && pwd -P) || deny "the folder of this plugin is not known"
program=$(command -v callgate) ||
	deny "no program \`callgate\` is in the PATH, so every call is denied: npm install -g callgate, or uv tool install callgate-cli"
case $program in
/*) ;;
*) deny "\`callgate\` is not a program by an absolute path: $program" ;;
esac
project=$(cd "${CLAUDE_PROJECT_DIR:-${GEMINI_PROJECT_DIR:-${CURSOR_PROJECT_DIR:-.}}}" && pwd -P) || deny "the project's folder is not known"
case $(cd "$(dirname "$program")" && pwd -P)/ in
"$project"/*) deny "the program \`$program\` lies in the project, where the agent can change it" ;;
esac

# The user's bundle, or that of the plugin where there is none. One that cannot be looked for is not none. What a project brings along
# is nobody's word for what may be done in it.
config=${XDG_CONFIG_HOME:-$HOME/.config}
bundle=$config/callgate/callgate.json
for folder in "$config" "$config/callgate"; do
	[ ! -d "$folder" ] || [ -x "$folder" ] || deny "the folder $folder cannot be searched for a bundle"
done
[ -e "$bundle" ] || [ -L "$bundle" ] || bundle=$root/callgate.json
"$program" hook "$@" --bundle "$bundle" --protected-path "$root" || exit 2
