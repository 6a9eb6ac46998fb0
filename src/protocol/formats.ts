/** §4.3: the picture formats that the service takes, by extension and by MIME type. */
export const FORMATS = {
  png: { mime: 'image/png', extensions: ['png'] },
  jpeg: { mime: 'image/jpeg', extensions: ['jpg', 'jpeg'] },
  gif: { mime: 'image/gif', extensions: ['gif'] },
  webp: { mime: 'image/webp', extensions: ['webp'] },
  svg: { mime: 'image/svg+xml', extensions: ['svg'] },
  bmp: { mime: 'image/bmp', extensions: ['bmp'] },
  tiff: { mime: 'image/tiff', extensions: ['tiff', 'tif'] },
  ico: { mime: 'image/x-icon', extensions: ['ico'] },
} as const

export type Format = keyof typeof FORMATS

const FORMAT_NAMES = Object.keys(FORMATS) as Format[]

const byExtension = new Map<string, Format>()
for (const [format, { extensions }] of Object.entries(FORMATS))
  for (const extension of extensions) byExtension.set(extension, format as Format)

/** The format that a file name's extension stands for, in upper or lower case. Null: §4.3 does not list the extension. */
export function formatOfName(name: string): Format | null {
  const dot = name.lastIndexOf('.')
  return dot < 0 ? null : (byExtension.get(name.slice(dot + 1).toLowerCase()) ?? null)
}

/** Whether a name is one of a HEIC, which may be sent as a JPEG (`uploads.convert`). */
export function isHeicName(name: string): boolean {
  return /\.hei[cf]$/i.test(name)
}

/** The name that the image of a file has. It follows from the file's name alone, so what is recorded of a file tells it. */
export function imageNameOf(name: string): string {
  return isHeicName(name) ? `${name}.jpg` : name
}

/** Whether pictures have such names. `converts`: a HEIC counts as one. */
export function isPictureName(name: string, converts = true): boolean {
  return formatOfName(converts ? imageNameOf(name) : name) !== null
}

/** The format with this MIME type of §4.3; null: none has it. */
export function formatOfMime(mime: string): Format | null {
  return FORMAT_NAMES.find(format => FORMATS[format].mime === mime) ?? null
}

/** §4.1: the MIME types whose width and height may be left out. */
const EXEMPT = new Set(['image/svg+xml', 'image/tiff', 'image/tif'])

export function exemptFromDimensions(mime: string): boolean {
  return EXEMPT.has(mime)
}
