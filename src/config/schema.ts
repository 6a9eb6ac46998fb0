import { z } from 'zod'
import { hostSection } from './host-section.ts'
import * as value from './values.ts'

/**
 * The configuration, key by key, named as in the file. Each key's description is what `config.example.yaml` says of
 * it. A default stands as someone would write it. `example` is for a key without default; `secret` marks what is
 * not to be repeated in an error, for people paste keys and passwords into it.
 */

/** For a key that is read and checked, and that nothing obeys yet. */
const notInEffect = (description: string) => ({
  description: `${description} (Not in effect yet.)`,
  notInEffect: true,
})

const mirror = value.section({
  folder: value.path('the path of a folder').meta({
    description:
      'The folder whose pictures are mirrored. A relative path begins at the folder of this file, ~/ at your home.',
    example: '/srv/photos',
  }),
  album: value.albumPath.meta({
    description:
      'The album that stands for it, slash-separated where it lies in others. "" is the host\'s root.',
    example: 'Photos',
  }),
  deletions: value
    .oneOf(['propagate', 'keep'])
    .prefault('propagate')
    .meta({
      description:
        'What becomes of the image when a picture is deleted, changed or moved here: propagate gives the old image ' +
        'up (a mirror), keep keeps every image (a backup).',
    }),
  ignore: z
    .array(value.text('a pattern such as "*.tmp"'), { error: 'must be a list of patterns' })
    .prefault([])
    .meta({
      description:
        "What is left out, in gitignore's syntax. A file .albumdignore in any folder does the same for that folder.",
      example: ['*.tmp', 'Private/'],
    }),
})

const deletions = value.section({
  grace: value
    .duration('0', '365d')
    .prefault('10m')
    .meta({
      description:
        'How long a picture must be gone, while albumd run runs and looks, before its image is deleted. ' +
        'The command sync has no grace for what its own scan finds gone: it looks at every path again, and deletes at ' +
        'the end of the pass.',
    }),
  hold_above: value.percentage.prefault('25%').meta({
    description:
      'When more images than both this share and hold_min were to be deleted within 24 running hours, all of ' +
      'them are held until you approve.',
  }),
  hold_min: value.wholeNumber(0, 1_000_000_000).prefault(20).meta({
    description: 'So many deletions are never held, however small the mirror.',
  }),
  albums: value
    .oneOf(['one_by_one', 'recursive'])
    .prefault('one_by_one')
    .meta({
      description:
        'How an album goes: one_by_one after each of its images, or recursive, at once. Recursive is for those who ' +
        'alone write to the account.',
    }),
})

const quota = value.section({
  probe_every: value
    .duration('1s', '1d')
    .prefault('15m')
    .meta({
      description:
        'How often an exhausted quota (when its reset is not known), a full storage or an endpoint outside the plan ' +
        'is tried again.',
    }),
})

const uploads = value.section({
  concurrency: value
    .wholeNumber(1, 64)
    .prefault(8)
    .meta({ description: 'Pictures on their way at once, at most.' }),
  order: value.oneOf(['newest', 'oldest']).prefault('newest').meta({
    description: 'Which pictures go first: newest or oldest.',
  }),
  bandwidth: value.bandwidth.optional().meta({
    ...notInEffect('What uploads may take of the line, in all. Left out, there is no limit.'),
    example: '2MB/s',
  }),
  hours: value.hours.optional().meta({
    ...notInEffect("When uploads may go, by this machine's clock. Left out, always."),
    example: '22:00-07:00',
  }),
})

const watch = value.section({
  settle: value.duration('100ms', '1h').prefault('1s').meta({
    description: 'How long a file must stay as it is before it is taken for finished.',
  }),
  poll: value
    .duration('1s', '1d')
    .optional()
    .meta({
      ...notInEffect(
        'Look at every folder so often: for network mounts, which tell nothing of their changes.',
      ),
      example: '30s',
    }),
  rescan: value.schedule
    .prefault('0 */6 * * *')
    .meta(
      notInEffect(
        'When everything is looked at again, in case a change went unnoticed (cron: minute hour day month weekday).',
      ),
    ),
  audit: value.schedule
    .prefault('30 3 * * 0')
    .meta(notInEffect("When the host's listing is compared with what is recorded (cron).")),
})

const statusPage = value.section({
  listen: value.listenAddress
    .prefault('127.0.0.1:8687')
    .meta(notInEffect('Where a browser finds the status page, or off.')),
})

const log = value.section({
  level: value.oneOf(['debug', 'info', 'warn', 'error']).prefault('info').meta({
    description: 'How much is logged: debug, info, warn or error.',
  }),
  format: value.oneOf(['auto', 'pretty', 'json', 'journal']).prefault('auto').meta({
    description: 'pretty for people, json for collectors, journal for systemd; auto is pretty on a terminal.',
  }),
})

export const configSchema = value.section({
  host: hostSection.meta({ description: 'The image host and the account there.' }),
  mirrors: z
    .array(mirror, { error: 'must be a list of folders' })
    .min(1, 'must name at least one folder')
    .meta({
      description:
        'The folders and their albums. No folder may lie in another, no album in another. A mirror that is taken ' +
        'out of this list deletes nothing.',
    }),
  deletions: deletions.prefault({}).meta({ description: 'How deletions are kept from being a mistake.' }),
  quota: quota.prefault({}).meta({ description: 'What happens when the host takes no more.' }),
  uploads: uploads.prefault({}).meta({ description: 'How pictures go to the host.' }),
  watch: watch.prefault({}).meta({ description: 'How changes on the disk are noticed.' }),
  status_page: statusPage.prefault({}).meta({ description: 'What a browser sees.' }),
  state_dir: value
    .path('the path of a folder')
    .optional()
    .meta({
      description:
        'Where albumd keeps what it knows; not in a mirror. Left out: $STATE_DIRECTORY, or /var/lib/albumd for a ' +
        'config in /etc/albumd, or else albumd in $XDG_STATE_HOME (~/.local/state).',
      example: '/var/lib/albumd',
    }),
  log: log.prefault({}).meta({ description: 'What albumd writes about its work.' }),
})

/** As the schema leaves it: in the program's units, with paths still as in the file. */
export type WrittenConfig = z.output<typeof configSchema>

/**
 * The configuration in the program's units: durations in milliseconds, rates in bytes a second, percentages as
 * fractions, times of day in minutes after midnight. Paths are absolute; addresses end without a slash.
 */
export interface Config extends Omit<WrittenConfig, 'host' | 'state_dir'> {
  host: WrittenConfig['host'] & { site_url: string }
  state_dir: string
}
