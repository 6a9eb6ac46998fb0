import { checkFolders } from '../../config/check-folders.ts'
import type { Config } from '../../config/schema.ts'
import { isRemote, type Mount, mountsOf } from '../../local/mount-table.ts'
import { shellWord } from '../../sync/shell-word.ts'
import { type Finding, fail, pass, warn } from './finding.ts'
import { type Survey, surveyFolder } from './survey-folder.ts'

/** What was found in the mirrors' folders that are there. */
export interface Surveys {
  findings: Finding[]
  /** Folders of all mirrors, each with a watch of its own while the daemon runs. */
  folders: number
}

/** Whether each mirror's folder is there and may be read, with all below it. */
export async function checkTrees(config: Config, signal: AbortSignal): Promise<Surveys> {
  const problems = checkFolders(config)
  const findings = problems.map(({ key, message, code }) =>
    fail('folder', `${key}: ${message}`, REMEDIES[code]),
  )
  let folders = 0
  for (const { folder } of config.mirrors) {
    if (problems.some(problem => problem.folder === folder && problem.code !== 'FOLDER_OVERLAP')) continue
    const survey = await surveyFolder(folder, signal)
    folders += survey.folders
    findings.push(inWords(folder, survey))
  }
  return { findings, folders }
}

const REMEDIES = {
  FOLDER_MISSING:
    'mount the disk that holds it, or put the folder right in the config; meanwhile nothing of it is deleted',
  FOLDER_UNREADABLE: 'until then nothing of it is uploaded or deleted',
  FOLDER_OVERLAP: 'give each mirror, and state_dir, a folder of its own',
}

function inWords(folder: string, { folders, pictures, unreadable }: Survey): Finding {
  const size = `${folder}: folders ${folders.toLocaleString('en')}, pictures ${pictures.toLocaleString('en')}`
  if (unreadable.first === null) return pass('folder', `${size}; this user can read all`)
  const what = `this user can't read all (folders ${unreadable.folders}, pictures ${unreadable.pictures})`
  return fail(
    'folder',
    `${size}; ${what}, the first is ${unreadable.first}`,
    `let it read them, such as by chmod -R u+rX or setfacl on ${shellWord(folder)}; nothing in an unreadable folder is uploaded or deleted`,
  )
}

/** What the folders lie on. `fstab`: the text of /etc/fstab, '' where there is none. */
export function checkMounts(
  { mirrors, state_dir }: Pick<Config, 'mirrors' | 'state_dir'>,
  mounts: readonly Mount[],
  fstab: string,
): Finding[] {
  if (mounts.length === 0) return []
  const meant = mountPointsOf(fstab)
  const mounted = new Set(mounts.map(({ path }) => path))
  const findings = mirrors.flatMap(({ folder }) => {
    const away = meant.filter(path => !mounted.has(path) && touches(path, folder))
    const remote = mountsOf(mounts, folder).filter(isRemote)
    return [
      ...away.map(path =>
        fail('mounts', `${folder}: ${path} is in /etc/fstab and not mounted`, `mount ${shellWord(path)}`),
      ),
      ...remote.map(({ path, type }) =>
        warn(
          'mounts',
          `${folder}: ${path} is on other machines (${type}), which do not tell what they change there`,
          'albumd looks at it every minute by itself; watch.poll chooses how often',
        ),
      ),
    ]
  })
  const stateMount = mountsOf(mounts, state_dir)[0]
  if (stateMount && isRemote(stateMount))
    findings.push(
      fail(
        'mounts',
        `state_dir ${state_dir} is on a file system of other machines (${stateMount.type}), where a database is not safe`,
        'name a state_dir on a disk of this machine',
      ),
    )
  return findings.length > 0 ? findings : [pass('mounts', 'all on disks of this machine that are mounted')]
}

/** A line: device, mount point, type, options, … */
function mountPointsOf(fstab: string): string[] {
  return fstab.split('\n').flatMap(line => {
    const [device = '', path = ''] = line.trim().split(/\s+/)
    return device.startsWith('#') || !path.startsWith('/') || path === '/'
      ? []
      : [path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))]
  })
}

function touches(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`) || folder.startsWith(`${path}/`)
}
