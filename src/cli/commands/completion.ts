import { basename } from 'node:path'
import { command } from '../options.ts'
import { EXIT } from '../problem.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

export const completionCommand = command(
  options =>
    options
      .positional('shell', { choices: SHELLS, describe: "The shell; else $SHELL's, or bash" })
      .example('source <($0 completion bash)', 'In ~/.bashrc')
      .example('source <($0 completion zsh)', 'In ~/.zshrc, below compinit')
      .example('$0 completion fish | source', 'In ~/.config/fish/config.fish'),
  async ({ shell }) => {
    process.stdout.write(SCRIPTS[shell ?? usual()])
    return EXIT.inSync
  },
)

function usual(): (typeof SHELLS)[number] {
  const own = basename(process.env.SHELL ?? '')
  return SHELLS.find(shell => shell === own) ?? 'bash'
}

/** Each script asks albumd, through yargs, which words may come next. When no word may come, the script offers files. $SHELL
 * tells yargs whether descriptions are wanted. The script for zsh also works as a file that zsh loads at the first Tab: then
 * the file itself is the function `_albumd`, and has to complete at once. */
const SCRIPTS: Record<(typeof SHELLS)[number], string> = {
  bash: `# albumd's completion for bash: source <(albumd completion bash)
_albumd() {
  local word=\${COMP_WORDS[COMP_CWORD]}
  local IFS=$'\\n'
  local found
  found=$(SHELL=bash albumd --get-yargs-completions "\${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null)
  # Where a command takes a file, files come before options.
  [[ $word == -* ]] || found=$(grep -v '^-' <<< "$found")
  COMPREPLY=($(compgen -W "$found" -- "$word"))
}
complete -o bashdefault -o default -F _albumd albumd
`,
  zsh: `#compdef albumd
# albumd's completion for zsh: source <(albumd completion zsh)
_albumd() {
  local -a found
  found=("\${(@f)$(SHELL=zsh albumd --get-yargs-completions "\${(@)words[1,CURRENT]}" 2>/dev/null)}")
  # Where a command takes a file, files come before options.
  [[ $words[CURRENT] == -* ]] || found=(\${found:#-*})
  if [[ -n "$found" ]]; then
    _describe 'albumd' found
  else
    _files
  fi
}
if [[ $funcstack[1] == _albumd ]]; then
  _albumd
else
  compdef _albumd albumd
fi
`,
  fish: `# albumd's completion for fish: albumd completion fish | source
function __albumd_words
  set -l word (commandline --current-token)
  set -l words (commandline --tokenize --cut-at-cursor --current-process)
  # yargs separates a word from its description with a colon, fish with a tab.
  set -l found (env SHELL=zsh albumd --get-yargs-completions $words "$word" 2>/dev/null | string replace ':' \\t)
  # Where a command takes a file, files come before options.
  string match --quiet -- '-*' "$word"; or set found (string match --invert -- '-*' $found)
  if set --query found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path "$word"
  end
end
complete --command albumd --no-files --keep-order --arguments '(__albumd_words)'
`,
}
