import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { DaemonView } from '../daemon/loop/supervisor.ts'
import type { Alert } from '../daemon/notify/health.ts'
import { version } from '../daemon/package.ts'
import type { AccountStatus } from '../daemon/report/machines.ts'
import { statusOf } from '../daemon/report/status.ts'
import type { Millis } from '../protocol/clock.ts'
import type { RequestEvent } from '../remote/gate/gate.ts'
import type { SpokenEvent } from '../sync/pass-events.ts'

/** How many codes are counted by name. Further codes are counted as OTHER, because a host may invent many codes. */
const CODES = 50

interface DeclaredMetric {
  name: string
  help: string
  labelNames: string[]
}

/** The numbers for Prometheus. Counters begin at 0 when the process starts, as Prometheus expects. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #now: () => number
  readonly #codes = new Set<string>()
  readonly #scanBegan = new Map<string, number>()
  readonly #clear: (() => void)[] = []

  readonly #uploads = this.#counter('albumd_uploads_total', 'Pictures that were uploaded.', ['mirror'])
  readonly #bytes = this.#counter('albumd_uploaded_bytes_total', 'Bytes of these pictures.', ['mirror'])
  readonly #failed = this.#counter('albumd_upload_failures_total', 'Tries that failed, by code.', ['code'])
  readonly #deleted = this.#counter('albumd_images_deleted_total', 'Images that were deleted.', ['mirror'])
  readonly #requests = this.#counter(
    'albumd_requests_total',
    'Requests to the host, by endpoint and HTTP status; status "none": no answer.',
    ['endpoint', 'status'],
  )
  readonly #scans = new Histogram({
    name: 'albumd_scan_duration_seconds',
    help: 'How long scans of a mirror took, complete ones and those of single folders.',
    labelNames: ['mirror'],
    buckets: [0.01, 0.1, 1, 10, 60, 600, 3600, 21_600],
    registers: [this.#registry],
  })
  readonly #trouble = this.#gauge(
    'albumd_trouble',
    'What needs a person, by the codes that /healthz tells. Without such a line all is well.',
    ['code'],
  )
  readonly #open = this.#gauge('albumd_state_open', '1 while albumd has its state open.')
  readonly #paused = this.#gauge('albumd_paused', '1 while albumd is paused.')
  readonly #pictures = this.#gauge('albumd_pictures', 'Pictures on the disk, by state.', ['mirror', 'state'])
  readonly #held = this.#gauge('albumd_held_deletions', 'Deletions that wait until a person decides.', [
    'mirror',
  ])
  readonly #pending = this.#gauge('albumd_pending_deletions', 'Deletions that wait.', ['mirror'])
  readonly #guarded = this.#gauge('albumd_mirror_guarded', '1 while the mirror is guarded.', ['mirror'])
  readonly #oldest = this.#gauge(
    'albumd_oldest_unsynced_seconds',
    'How long the oldest waiting picture has waited; 0: none waits.',
    ['mirror'],
  )
  readonly #backlog = this.#gauge(
    'albumd_backlog_pictures',
    'Pictures that wait for their upload, without those that are only compared.',
  )
  readonly #backlogBytes = this.#gauge('albumd_backlog_bytes', 'Bytes of these pictures.')
  readonly #failuresNow = this.#gauge('albumd_failures', 'Paths with a failure, by code.', ['code'])
  readonly #findings = this.#gauge(
    'albumd_audit_findings',
    'Where the last audit found the host to differ from the records. Kind "foreign" is no trouble: images in no record of albumd.',
    ['kind'],
  )
  readonly #limit = this.#gauge('albumd_quota_limit', 'Uploads that the plan allows in a day.')
  readonly #used = this.#gauge('albumd_quota_used', 'Uploads that were requested today.')
  readonly #exhausted = this.#gauge('albumd_quota_exhausted', "1 while the day's quota is used up.")

  readonly #store = this.#gauge(
    'albumd_store_up',
    '1 while the store of account.shared answers, else 0; left out without a store.',
  )
  readonly #seen = this.#gauge('albumd_machine_seen_seconds', 'How long ago the store heard of a machine.', [
    'machine',
  ])
  readonly #usedBy = this.#gauge('albumd_machine_quota_used', 'Uploads that a machine requested today.', [
    'machine',
  ])
  readonly #info = this.#gauge('albumd_info', 'The running version of albumd.', ['version'])

  /** `now`: milliseconds on a clock that only goes forward. */
  constructor(now: () => number) {
    this.#now = now
  }

  hear(emitted: SpokenEvent): void {
    switch (emitted.event) {
      case 'scan_started':
        this.#scanBegan.set(emitted.mirror, this.#now())
        return
      case 'scan_finished': {
        const began = this.#scanBegan.get(emitted.mirror)
        if (began !== undefined) this.#scans.observe({ mirror: emitted.mirror }, (this.#now() - began) / 1000)
        return
      }
      case 'picture_uploaded':
        this.#uploads.inc({ mirror: emitted.mirror })
        this.#bytes.inc({ mirror: emitted.mirror }, emitted.size)
        return
      case 'picture_failed':
        this.#failed.inc({ code: this.#known(emitted.code) })
        return
      case 'image_deleted':
        this.#deleted.inc({ mirror: emitted.mirror })
    }
  }

  requested({ endpoint, status }: RequestEvent): void {
    this.#requests.inc({ endpoint, status: status ?? 'none' })
  }

  /** The numbers in the text format of Prometheus. `alerts`: what `/healthz` tells. */
  async read(
    daemon: DaemonView | null,
    alerts: readonly Alert[],
    wall: Millis,
  ): Promise<{ type: string; text: string }> {
    // Numbers that are not set again below are left out.
    for (const clear of this.#clear) clear()
    this.#info.set({ version }, 1)
    for (const { code } of alerts) this.#trouble.inc({ code: this.#known(code) })
    this.#look(daemon, wall)
    return { type: this.#registry.contentType, text: await this.#registry.metrics() }
  }

  #lookAtMachines({ store, machines }: AccountStatus, wall: number): void {
    if (store) this.#store.set(store.away === null ? 1 : 0)
    for (const { name: machine, seen, used_today } of machines) {
      this.#seen.set({ machine }, Math.max(0, wall - Date.parse(seen)) / 1000)
      this.#usedBy.set({ machine }, used_today)
    }
  }

  #look(daemon: DaemonView | null, wall: number): void {
    const session = daemon?.queue.session ?? null
    this.#open.set(session === null ? 0 : 1)
    // While something keeps albumd from its work, the records are old. No number is better than an old one.
    if (session === null || daemon?.problem() != null) return
    const { config, synced } = session
    const status = statusOf(config, synced, true, wall)
    const { mirrors, quota, backlog, paused, store, machines, audit } = status
    for (const mirror of mirrors) {
      const of = { mirror: mirror.folder }
      for (const state of ['synced', 'linked', 'uncertain', 'gone_on_host'] as const)
        this.#pictures.set({ ...of, state }, mirror[state])
      this.#pictures.set({ ...of, state: 'failed' }, mirror.failed - mirror.folders_in_doubt)
      this.#pictures.set({ ...of, state: 'pending' }, mirror.pending_uploads)
      this.#held.set(of, mirror.held_deletions)
      this.#pending.set(of, mirror.pending_deletions)
      this.#guarded.set(of, mirror.state === 'guarded' ? 1 : 0)
      const { oldest_unsynced: oldest } = mirror
      this.#oldest.set(of, oldest === null ? 0 : Math.max(0, wall - Date.parse(oldest)) / 1000)
    }
    this.#lookAtMachines({ store, machines }, wall)
    this.#backlog.set(backlog.pictures - backlog.compare)
    this.#backlogBytes.set(backlog.bytes)
    this.#limit.set(quota.limit)
    this.#used.set(quota.used)
    this.#exhausted.set(quota.exhausted ? 1 : 0)
    this.#paused.set(paused === null ? 0 : 1)
    for (const [kind, n] of Object.entries(audit.kinds)) this.#findings.set({ kind }, n)
    for (const { folder } of config.mirrors)
      for (const { code, n } of synced.summaries.failuresByCode(synced.mirrors.of(folder)?.id ?? 0))
        this.#failuresNow.inc({ code: this.#known(code) }, n)
  }

  declared(): { name: string; type: string; help: string; labels: string[] }[] {
    const metrics = this.#registry.getMetricsAsArray() as unknown as DeclaredMetric[]
    return metrics.map(metric => {
      const { name, help, labelNames: labels } = metric
      return { name, help, labels, type: metric.constructor.name.toLowerCase() }
    })
  }

  #known(code: string): string {
    if (!this.#codes.has(code) && (this.#codes.size >= CODES || !/^[A-Z][A-Z0-9_]{0,49}$/.test(code)))
      return 'OTHER'
    this.#codes.add(code)
    return code
  }

  #counter(name: string, help: string, labelNames: string[]): Counter {
    return new Counter({ name, help, labelNames, registers: [this.#registry] })
  }

  #gauge(name: string, help: string, labelNames: string[] = []): Gauge {
    const gauge = new Gauge({ name, help, labelNames, registers: [this.#registry] })
    this.#clear.push(() => (labelNames.length > 0 ? gauge.reset() : gauge.remove()))
    return gauge
  }
}
