import { FORMATS, formatOfName } from '../../protocol/formats.ts'
import type { Picture } from '../../protocol/picture/picture.ts'
import type { UploadRequest } from '../../protocol/records.ts'
import type { HostFailure, Remedy } from '../../remote/host.ts'
import type { Tx } from '../../synced/synced.ts'
import type { TypeReading } from '../../synced/tables/meta.ts'
import { TOO_LARGE } from '../quota/index.ts'
import { DeclaredDimensions, type DimensionsContext } from './dimensions.ts'

/**
 * How one picture is declared, try after try (§4.1): its MIME type and its dimensions.
 *
 * The first try declares the MIME type of the bytes. A host may take a name only together with the type that its extension
 * stands for. An example: a PNG that is called x.jpg must then be declared as a JPEG, because the image is to keep the
 * file's name. §4 says neither which type a host wants, nor with which code it refuses the other type. So albumd learns
 * this from the first picture whose name and bytes differ.
 */
export class Declaration {
  readonly #context: DimensionsContext
  readonly #picture: Picture
  /** The two MIME types that can be declared: that of the bytes, and that of the name. */
  readonly #types: Readonly<Record<TypeReading, string>>
  #reading: TypeReading
  #isRefused = false
  #dimensions: DeclaredDimensions

  constructor(context: DimensionsContext, picture: Picture, name: string) {
    const format = formatOfName(name)
    this.#context = context
    this.#picture = picture
    this.#types = { bytes: picture.mime, name: format === null ? picture.mime : FORMATS[format].mime }
    this.#reading = context.synced.meta.get('declared_type') ?? 'bytes'
    this.#dimensions = this.#newDimensions()
  }

  get mime(): string {
    return this.#types[this.#reading]
  }

  /** The fields that step 1 of the upload declares. */
  fields(): Pick<UploadRequest, 'mime_type' | 'width' | 'height' | 'skip_dimension_check'> {
    return { mime_type: this.mime, ...this.#dimensions.fields() }
  }

  /**
   * Null when albumd knows how such pictures are declared. Otherwise a name for what is not known yet. Pictures with the
   * same name here are sent one after the other, so that the host refuses only the first of them.
   */
  decides(): string | null {
    if (this.#hasTwoTypes && this.#context.synced.meta.get('declared_type') === null) return 'declared type'
    return this.#dimensions.decides() ? this.#dimensions.kind : null
  }

  /** Whether the other of the two types may still be declared. */
  get isOpen(): boolean {
    return this.#hasTwoTypes && !this.#isRefused
  }

  /** Notes that the host refused the declaration. Answers whether something else can be declared. */
  refused(failure: HostFailure): boolean {
    if (this.#dimensions.refused(failure)) return true
    if (!this.isOpen || !mayBeAboutType(failure)) return false
    this.#isRefused = true
    this.#reading = this.#reading === 'bytes' ? 'name' : 'bytes'
    this.#dimensions = this.#newDimensions()
    return true
  }

  /** Records what albumd learns from an acknowledged upload. */
  acknowledged(tx: Tx, now: number): void {
    if (this.#hasTwoTypes && tx.meta.get('declared_type') !== this.#reading)
      tx.meta.set('declared_type', this.#reading)
    this.#dimensions.acknowledged(tx, now)
  }

  get #hasTwoTypes(): boolean {
    return this.#types.bytes !== this.#types.name
  }

  #newDimensions(): DeclaredDimensions {
    return new DeclaredDimensions(this.#context, this.#picture, this.mime)
  }
}

const OF_REQUEST: ReadonlySet<Remedy> = new Set<Remedy>([
  'change_request',
  'change_picture',
  'not_permitted',
  'gone',
])

/**
 * Whether step 1 may have been refused because of the declared type. Only an answer with a status of 400 or more is a
 * refusal by the host.
 */
function mayBeAboutType({ endpoint, remedy, code, status = 0, issued }: HostFailure): boolean {
  return endpoint === 'upload' && status >= 400 && !issued && code !== TOO_LARGE && OF_REQUEST.has(remedy)
}
