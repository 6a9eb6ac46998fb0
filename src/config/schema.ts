import { z } from 'zod'
import { hostSection } from './host-section.ts'
import * as value from './values.ts'

/**
 * The configuration, key by key, named as in the file. `config.example.yaml` is made from the descriptions. A default is
 * written as a person would write it. `example` is for a key without default. `secret` marks values that no error repeats,
 * because people paste keys and passwords into them.
 */

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
  reserve: value.percentage.prefault('10%').meta({
    description:
      'With order newest, this share of the daily quota is kept for pictures that are found on the day: a backlog ' +
      'from before leaves so much alone.',
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
    description: 'What uploads may take of the line, all together. Left out, there is no limit.',
    example: '2MB/s',
  }),
  hours: value.hours.optional().meta({
    description:
      "When uploads may go, by this machine's clock; over midnight too. Outside of these hours albumd run goes on to " +
      'look, and to give up what was deleted; a picture that is on its way is let through. The command sync is a ' +
      "person's wish, and uploads at any time. Left out, always.",
    example: '22:00-07:00',
  }),
})

const watch = value.section({
  settle: value
    .duration('100ms', '1h')
    .prefault('1s')
    .meta({
      description:
        'How long a file must stay as it is before it is taken for finished. A new picture whose last byte is the end ' +
        'of its format goes sooner; one that is not all there waits on, however long its writer pauses.',
    }),
  incomplete_after: value.duration('1s', '365d').prefault('10m').meta({
    description:
      'A picture that is not all there, such as a download that broke off, is reported so long after its last change.',
  }),
  incomplete: value.oneOf(['leave', 'send']).prefault('leave').meta({
    description: 'What becomes of it then: leave it until it changes, or send it as it is.',
  }),
  poll: value
    .duration('1s', '1d')
    .optional()
    .meta({
      description:
        'Look at every folder so often, and watch none: for disks that tell nothing of their changes. Left out, folders ' +
        'are watched, and network mounts (NFS, SMB, sshfs and the like) are looked at every minute as well, less often ' +
        'where that takes long.',
      example: '30s',
    }),
  rescan: value.schedule.prefault('0 */6 * * *').meta({
    description:
      'When everything is looked at again, in case a change went unnoticed (cron: minute hour day month weekday, ' +
      "by this machine's clock). At its start albumd run looks at everything too.",
  }),
  audit: value.scheduleOrOff.prefault('30 3 * * 0').meta({
    description:
      "When the host's listing is compared with what is recorded (cron), or off. It takes a part of the requests that " +
      'are spare, lets new pictures go first, and repairs nothing: albumd status shows what it found. One that was ' +
      'missed is made up for, once.',
  }),
})

const notify = value.section({
  heartbeat: value.heartbeatUrl.optional().meta({
    description:
      'An address to ask (GET) while everything is as it should be, for a service that tells you when these stop ' +
      '(healthchecks.io, Uptime Kuma and the like). The parameter oldest_unsynced, in seconds, is added: how long the ' +
      'picture that waits longest has waited. HTTPS; plain HTTP within this machine alone.',
    example: 'https://hc-ping.com/your-check',
    secret: true,
  }),
  every: value.duration('10s', '1d').prefault('5m').meta({ description: 'How often the heartbeat goes.' }),
  max_age: value.duration('1m', '365d').prefault('24h').meta({
    description: 'A picture that is not on the host after so long is trouble.',
  }),
  on_trouble: value
    .text('a command such as "/usr/local/bin/tell-me"')
    .min(1, { error: 'must be a command such as "/usr/local/bin/tell-me"' })
    .optional()
    .meta({
      description:
        'A command for the shell (sh -c) when trouble begins, changes and ends, at most once a minute. It finds ' +
        '$ALBUMD_EVENT (trouble or resolved), $ALBUMD_CODE and $ALBUMD_MESSAGE; of the environment only PATH, HOME, ' +
        'LANG, TZ, USER, and what a message on the desktop needs. After a minute it is ended; one that fails runs again ' +
        'four times within three hours.',
      example: 'notify-send albumd "$ALBUMD_MESSAGE"',
      secret: true,
    }),
  on_upload: value
    .text('a command such as "/usr/local/bin/tell-me"')
    .min(1, { error: 'must be a command such as "/usr/local/bin/tell-me"' })
    .optional()
    .meta({
      description:
        'A command for the shell when a picture was uploaded: one at a time, in the order of uploads; the command sync ' +
        'ends after the last of them. It finds $ALBUMD_URL (the delivery address, public), $ALBUMD_PATH (of the file), ' +
        '$ALBUMD_ALBUM and $ALBUMD_ID (of the image), and of the environment what on_trouble finds. After 30 seconds it ' +
        'is ended.',
      example: 'printf %s "$ALBUMD_URL" | wl-copy',
      secret: true,
    }),
})

const statusPage = value.section({
  listen: value.listenAddress.prefault('127.0.0.1:8687').meta({
    description:
      'Where a browser finds the status page, or off. It opens for the user who runs albumd, on this machine; others ' +
      'need the key in the file page.key of state_dir for a password.',
  }),
})

const log = value.section({
  level: value.oneOf(['debug', 'info', 'warn', 'error']).prefault('info').meta({
    description: 'How much is logged: debug, info, warn or error.',
  }),
  format: value
    .oneOf(['auto', 'pretty', 'json', 'journal'])
    .prefault('auto')
    .meta({
      description:
        "pretty for people, json for collectors, journal for systemd: JSON with journald's priorities. auto is pretty on " +
        'a terminal, journal where the journal reads along, and json elsewhere.',
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
  notify: notify.prefault({}).meta({ description: 'How you hear that it works, or that it does not.' }),
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
