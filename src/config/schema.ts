import { z } from 'zod'
import { accountSection, hostSection } from './host-section.ts'
import * as value from './values.ts'

/** The configuration, key by key, named as in the file. `config.example.yaml` is made from the descriptions. A default is
 * written as a person would write it. `example` is for a key without default. `secret` marks values that no error repeats,
 * because people paste keys and passwords into them. */

const mirror = value.section({
  folder: value.path('the path of a folder').meta({
    description:
      'The folder whose pictures are mirrored. A relative path begins at the folder of this file, ~/ at your home.',
    example: '/srv/photos',
  }),
  album: value.albumPath.meta({
    description:
      'The album that the folder is mirrored to. Slashes separate the names of albums in albums. "" is the host\'s root.',
    example: 'Photos',
  }),
  deletions: value
    .oneOf(['propagate', 'keep'])
    .prefault('propagate')
    .meta({
      description:
        'What happens to the image when a picture is deleted, changed or moved: propagate deletes the old image (a ' +
        'mirror), keep keeps every image (a backup). What was kept stays for good, also when the mirror is set to ' +
        'propagate later.',
    }),
  ignore: z
    .array(
      // A longer pattern would leave nothing out (`local/ignore-rules.ts`).
      value
        .text('a pattern such as "*.tmp"')
        .max(4096, { error: 'must be a pattern of at most 4096 characters' }),
      { error: 'must be a list of patterns' },
    )
    .prefault([])
    .meta({
      description:
        'What is left out, in gitignore\'s syntax. A file .albumdignore in any folder does the same for that folder. Folders of the system, such as lost+found, @eaDir, #recycle and $RECYCLE.BIN, are left out unless a rule has them back, for example "!@eaDir/".',
      example: ['*.tmp', 'Private/'],
    }),
})

const deletions = value.section({
  grace: value
    .duration('0', '365d')
    .prefault('10m')
    .meta({
      description:
        'How long a picture must be gone, while albumd run works, before its image is deleted. The command sync has no ' +
        'grace for pictures that its own scan finds gone, and deletes few at the end of the pass.',
    }),
  grace_many: value
    .duration('0', '365d')
    .prefault('1d')
    .meta({
      description:
        'The same for many deletions: when more than 3 images, and more than 5 % of the mirror or 20, would be deleted ' +
        'within 24 running hours, all of them wait so long, and you are told at once. For sync it counts by the clock: ' +
        'the first sync that begins so much later deletes what is still gone. 0s: as grace.',
    }),
  hold_above: value.percentage.prefault('25%').meta({
    description:
      'When more images than this share, and more than hold_min, would be deleted within 24 running hours, all of them ' +
      'are held until you approve.',
  }),
  hold_min: value
    .wholeNumber(0, 1_000_000_000)
    .prefault(20)
    .meta({
      description:
        'This many deletions are not held, unless they are more than half of the mirror: those are held however small it ' +
        'is (but for 3).',
    }),
})

const quota = value.section({
  probe_every: value
    .duration('1s', '1d')
    .prefault('15m')
    .meta({
      description:
        'How often the host is asked again after it refused: because the quota is used up (when nobody knows its reset), ' +
        'the storage is full, or the plan does not allow it.',
    }),
  reserve: value.percentage.prefault('10%').meta({
    description:
      'With order newest, this share of the daily quota is kept for pictures that are found on the same day. Older ' +
      'pictures do not use it.',
  }),
})

const uploads = value.section({
  concurrency: value
    .wholeNumber(1, 64)
    .prefault(8)
    .meta({ description: 'How many pictures are uploaded at the same time, at most.' }),
  order: value.oneOf(['newest', 'oldest']).prefault('newest').meta({
    description: 'Which pictures are uploaded first: newest or oldest.',
  }),
  bandwidth: value.bandwidth.optional().meta({
    description: 'The bandwidth of all uploads together. Left out, there is no limit.',
    example: '2MB/s',
  }),
  hours: value.hours.optional().meta({
    description:
      "When albumd run uploads, by this machine's clock. The hours may reach over midnight. Scans, deletions and an upload that has " +
      'begun go on. The command sync uploads at any time.',
    example: '22:00-07:00',
  }),
  strip: value
    .oneOf(['none', 'location', 'all'])
    .prefault('none')
    .meta({
      description:
        'Which metadata are taken out of what is sent, because delivery addresses are public; the file stays as it is. ' +
        'location: the place, and all else but camera, exposure, date, author and copyright. all: these, too. The pixels, their ' +
        'colours and how they are turned stay. BMP, ICO and SVG are sent as they are. A picture of which this can not be ' +
        'done for sure is not sent. What is taken out does not come back with restore. It concerns new uploads; albumd ' +
        'retry --strip sends older ones anew.',
    }),
  convert: z
    .array(z.enum(['heic'], { error: 'must be heic' }), { error: 'must be a list such as [heic]' })
    .prefault([])
    .meta({
      description:
        'The formats that are sent as JPEG, because the host does not take them: heic. An image of IMG_1.heic is called ' +
        'IMG_1.heic.jpg; the file stays as it is. What of its metadata is sent uploads.strip says, but never the place. It needs ' +
        'the package libheif-js, which is not part of albumd: npm install --global libheif-js. A HEIC that can not be ' +
        'converted for sure is not sent. Restore brings back the JPEG.',
      example: ['heic'],
    }),
})

const watch = value.section({
  settle: value
    .duration('100ms', '1h')
    .prefault('1s')
    .meta({
      description:
        'How long a file must not change before it counts as finished. A new picture that ends with the end marker of ' +
        'its format is uploaded sooner, one that was written over in place five times later. A picture of which ' +
        'something is missing waits, however long its writer pauses.',
    }),
  incomplete_after: value
    .duration('1s', '365d')
    .prefault('10m')
    .meta({
      description:
        'A picture of which something is missing, such as an interrupted download, is reported so long after it was last ' +
        'written or copied here. A picture that is whole, but not as its format says, is sent then. The date that a ' +
        'copy keeps does not count.',
    }),
  incomplete: value
    .oneOf(['leave', 'send'])
    .prefault('leave')
    .meta({
      description:
        'What happens then to a picture of which something is missing: leave waits until it changes, send uploads it ' +
        'as it is.',
    }),
  poll: value
    .duration('1s', '1d')
    .optional()
    .meta({
      description:
        'Scan every folder this often, and watch none. For disks that do not report changes. Left out, folders are ' +
        'watched, and network mounts (NFS, SMB, sshfs and the like) are also scanned every minute, or less often when ' +
        'that takes long.',
      example: '30s',
    }),
  rescan: value.schedule.prefault('0 */6 * * *').meta({
    description:
      'When everything is scanned again, in case a change went unnoticed (cron: minute hour day month weekday, by this ' +
      "machine's clock). albumd run also scans everything when it starts.",
  }),
  audit: value.scheduleOrOff.prefault('30 3 * * 0').meta({
    description:
      "When the host's listings are compared with the records (cron), or off. It waits for new pictures, and repairs " +
      'nothing; albumd status shows what it found. A missed audit is done later, once.',
  }),
})

const notify = value.section({
  heartbeat: value.heartbeatUrl.optional().meta({
    description:
      'An address that albumd asks (GET) while all is well, for a service that tells you when these requests stop ' +
      '(healthchecks.io, Uptime Kuma and the like). The parameter oldest_unsynced is added: how many seconds the picture ' +
      'that waits longest has waited. HTTPS, or plain HTTP within this machine.',
    example: 'https://hc-ping.com/your-check',
    secret: true,
  }),
  every: value.duration('10s', '1d').prefault('5m').meta({ description: 'How often the heartbeat is sent.' }),
  max_age: value.duration('1m', '365d').prefault('24h').meta({
    description: 'A picture that is not on the host after so long counts as trouble.',
  }),
  on_trouble: value
    .filledText('a command such as "/usr/local/bin/tell-me"')
    .optional()
    .meta({
      description:
        'A command for the shell (sh -c) that runs when trouble begins, changes or ends, at most once a minute. It gets ' +
        '$ALBUMD_EVENT (trouble or resolved), $ALBUMD_CODE (empty when resolved) and $ALBUMD_MESSAGE, and of the environment only PATH, HOME, ' +
        'LANG, TZ, USER, and what a message on the desktop needs. It is ended after a minute. When it fails, it runs ' +
        'again, four times within three hours.',
      example: 'notify-send albumd "$ALBUMD_MESSAGE"',
      secret: true,
    }),
  on_upload: value
    .filledText('a command such as "/usr/local/bin/tell-me"')
    .optional()
    .meta({
      description:
        'A command for the shell that runs for each new address, one at a time, in the order of uploads. The command sync ' +
        'ends after the last of them. It gets $ALBUMD_URL (the public delivery address), $ALBUMD_PATH (of the file), ' +
        '$ALBUMD_ALBUM and $ALBUMD_ID (of the image), and of the environment what on_trouble gets. It is ended after 30 ' +
        'seconds.',
      example: 'printf %s "$ALBUMD_URL" | wl-copy',
      secret: true,
    }),
})

const statusPage = value.section({
  listen: value.listenAddress.prefault('127.0.0.1:8687').meta({
    description:
      'The address of the status page for a browser, or off. The user who runs albumd can open it on this machine. ' +
      'Others need the key in the file page.key of state_dir as the password.',
  }),
})

const picgoServer = value.section({
  listen: value.loopbackAddress.prefault('127.0.0.1:36677').meta({
    description:
      'The address for the editors, within this machine, or off. It serves the user who runs albumd; others add ?key= with ' +
      'the key in the file page.key of state_dir.',
  }),
  folder: value
    .path('the path of a folder')
    .optional()
    .meta({
      description:
        'The folder of a mirror that takes the pictures. None replaces another: another picture of its name gets a number. ' +
        'Left out, nothing listens.',
      example: '/srv/photos/notes',
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
        "pretty for people, json for collectors, journal for systemd (JSON with journald's priorities). auto is pretty on a " +
        'terminal, journal when the output goes to the journal, and json otherwise.',
    }),
})

export const configSchema = value.section({
  host: hostSection.meta({ description: 'The image host and the account there.' }),
  account: accountSection
    .prefault({})
    .meta({ description: 'How several machines with one account share it.' }),
  mirrors: z
    .array(mirror, { error: 'must be a list of folders' })
    .min(1, 'must name at least one folder')
    .meta({
      description:
        'The folders and their albums. No folder may lie in another, no album in another. A mirror that is taken ' +
        'out of this list deletes nothing.',
    }),
  deletions: deletions.prefault({}).meta({ description: 'How deletions are kept from being a mistake.' }),
  quota: quota.prefault({}).meta({ description: 'What happens when the host refuses uploads.' }),
  uploads: uploads.prefault({}).meta({ description: 'How pictures are uploaded.' }),
  watch: watch.prefault({}).meta({ description: 'How changes on the disk are noticed.' }),
  notify: notify
    .prefault({})
    .meta({ description: 'How albumd tells you that it works, or that it does not.' }),
  status_page: statusPage.prefault({}).meta({ description: 'What a browser sees.' }),
  picgo_server: picgoServer.prefault({}).meta({
    description: 'Where editors that speak with PicGo, such as Typora and Obsidian, upload pictures.',
  }),
  state_dir: value
    .path('the path of a folder')
    .optional()
    .meta({
      description:
        'The folder of the records. It may not be in a mirror. Left out: $STATE_DIRECTORY, or /var/lib/albumd for a ' +
        'config in /etc/albumd, or else albumd in $XDG_STATE_HOME (~/.local/state).',
      example: '/var/lib/albumd',
    }),
  log: log.prefault({}).meta({ description: 'What albumd writes about its work.' }),
})

/** The configuration as the schema parses it: in the program's units, with paths as they stand in the file. */
export type WrittenConfig = z.output<typeof configSchema>

/** The configuration in the program's units: milliseconds, bytes a second, fractions, minutes after midnight. Paths are
 * absolute; addresses end without a slash. */
export interface Config extends Omit<WrittenConfig, 'host' | 'account' | 'mirrors' | 'state_dir'> {
  /** `key_beside`: the path beside the config where the key's file may be. */
  host: WrittenConfig['host'] & { site_url: string; key_beside: string }
  account: WrittenConfig['account'] & { machine: string }
  /** `converts`: HEICs are sent as JPEGs, and what makes these is there. */
  mirrors: (WrittenConfig['mirrors'][number] & { converts?: boolean })[]
  state_dir: string
  /** A line for each key in the file that this version does not have any more. */
  gone: readonly string[]
}
