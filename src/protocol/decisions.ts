/**
 * What the specification leaves open ("not shown", or stated twice), decided once.
 * The embedded host behaves like this; the client assumes none of it.
 */
export const DECISIONS = {
  /** §1.6 states two plans for list, delete and create_album; the host takes the lower unless told otherwise. */
  plansFrom: 'professional',
  /** §1.6: uploading through the interface begins with a paid plan; the free plan's 50 images a day (§8) are for the web. */
  uploadFrom: 'professional',
  /** §4.1: a body that is no JSON object, or a field of the wrong JSON type, is VALIDATION_ERROR. Null and "" count as missing. */
  wrongType: 'VALIDATION_ERROR',
  /** §4.1: a MIME type outside §4.3's formats, or a file name over 255 characters, is VALIDATION_ERROR. */
  unknownMime: 'VALIDATION_ERROR',
  fileNameMax: 255,
  /** §4.1.2: a width or height that is an integer no picture format can hold is INVALID_DIMENSION. */
  dimensionMax: 2 ** 31 - 1,
  /** §4.1: several faults at once: the first of file_name, file_size, mime_type, width, height, album_id is answered; what a field lacks comes before what the plan forbids. */
  faultOrder: ['file_name', 'file_size', 'mime_type', 'width', 'height', 'album_id'],
  /** §4.1: an album_id that does not exist is NOT_FOUND, another account's is FORBIDDEN. */
  unknownAlbum: 'NOT_FOUND',
  /** §4.2: a credential that was never issued is NOT_FOUND; one that was used or has run out is FORBIDDEN. */
  unknownCredential: 'NOT_FOUND',
  spentCredential: 'FORBIDDEN',
  /** §4.2: no part named `file` is MISSING_PARAMS; more or fewer bytes than declared are INVALID_FILE_SIZE. */
  noFilePart: 'MISSING_PARAMS',
  wrongLength: 'INVALID_FILE_SIZE',
  /** §4.2.1: a credential for SVG or TIFF has no dimensions; bytes of another format sent to it are MISSING_DIMENSION. SVG and TIFF are not compared. */
  exemptButOther: 'MISSING_DIMENSION',
  /** §4.2: a refused upload leaves its credential usable until it runs out. */
  refusedKeepsCredential: true,
  /** §4.3: the presign form shares step 1's plan, quota and rate; it knows no dimensions, so they are not compared. Its images land in the root. */
  presignSkipsDimensions: true,
  /** §4.4: oldest first; every page repeats the album's sub-albums; an empty album has total_pages 0; a page beyond the last has no images. */
  listOrder: 'oldest first',
  /** §4.4: a page that is no positive integer is INVALID_PARAMS. */
  badPage: 'INVALID_PARAMS',
  /** §4.5.1: both parameters are INVALID_PARAMS, neither (or an empty one) is MISSING_PARAMS. */
  bothParams: 'INVALID_PARAMS',
  /** §4.6: a name over 100 characters is VALIDATION_ERROR; an unknown parent is NOT_FOUND; deeper than this is INVALID_PARAMS. Two albums may bear one name. */
  nameTooLong: 'VALIDATION_ERROR',
  depthMax: 10,
  /** §8: the day begins at midnight UTC. An image counts when its credential is issued; one that is never used gives its place back when it runs out. */
  quotaDay: 'UTC',
  /** §8: the largest file and the whole storage of each plan, in bytes. */
  fileSizeMax: { free: 10 * 2 ** 20, professional: 50 * 2 ** 20, flagship: 200 * 2 ** 20 },
  storageMax: { free: 2 ** 30, professional: 100 * 2 ** 30, flagship: 1000 * 2 ** 30 },
  /** §2: an SVG without a size is listed with width and height of 1, for §2 requires both. */
  unknownDimension: 1,
  /** §5.2 comes before everything else; then the endpoint's rate (§8), its plan (§5.5), its parameters. A path or method outside §4 is NOT_FOUND. */
  checkOrder: ['key', 'rate', 'plan', 'parameters', 'quota', 'storage', 'node'],
} as const
