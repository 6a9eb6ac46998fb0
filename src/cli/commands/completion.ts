import { basename } from 'node:path'
import { command } from '../options.ts'
import { EXIT } from '../problem.ts'

const SHELLS = ['bash', 'zsh'] as const

export const completionCommand = command(
  options =>
    options
      .positional('shell', { choices: SHELLS, describe: "The shell; left out, $SHELL's, or bash" })
      .example('source <($0 completion bash)', 'In ~/.bashrc')
      .example('source <($0 completion zsh)', 'In ~/.zshrc, below compinit'),
  async ({ shell }) => {
    process.stdout.write(SCRIPTS[shell ?? usual()])
    return EXIT.inSync
  },
)

function usual(): (typeof SHELLS)[number] {
  return basename(process.env.SHELL ?? '') === 'zsh' ? 'zsh' : 'bash'
}

/**
 * Each script asks albumd, through yargs, which words may come next. When no word may come, the script offers files. $SHELL
 * tells yargs whether descriptions are wanted.
 */
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
compdef _albumd albumd
`,
}
