import { DECISIONS } from '../protocol/decisions.ts'

/** What can not be taken otherwise, or by an option of its own. */
export const RULES: readonly { at: string; says: string }[] = [
  { at: '§1.6', says: 'Uploading through the interface begins with the professional plan.' },
  { at: '§1.6', says: 'List, delete and create_album begin with the plan of --plans-from.' },
  { at: '§4.1', says: 'Null and "" count as missing.' },
  { at: '§4.1', says: 'What is wrong with a field comes before what the plan forbids.' },
  {
    at: '§4.1',
    says: 'Of several faults the first is answered, in the order file_name, file_size, mime_type, skip_dimension_check, width, height, album_id.',
  },
  {
    at: '§4.1',
    says: 'Where width and height are not required they may be declared all the same, and are refused by the same rule. One without the other declares nothing.',
  },
  { at: '§4.1', says: 'The MIME type is not compared with the bytes.' },
  {
    at: '§4.1',
    says: `Formats go by other names too: ${Object.keys(DECISIONS.otherMimeTypes).join(', ')}.`,
  },
  {
    at: '§4.1',
    says: 'The default album is that of --default-album, for both forms of step 1. It is made when the host starts.',
  },
  {
    at: '§4.2',
    says: 'What was declared decides whether dimensions are compared, not the format of the bytes. An SVG without a size is UNREADABLE_DIMENSION then.',
  },
  {
    at: '§4.2',
    says: "The delivered Content-Type is that of the bytes; when they have none of §4.3's formats, the declared type. So are listed dimensions.",
  },
  { at: '§4.2', says: 'An upload that ends after its credential has run out is refused.' },
  {
    at: '§4.3',
    says: 'Both forms of step 1 share plan, quota and rate. In the presign form no dimensions are compared.',
  },
  {
    at: '§5',
    says: "The key comes before everything else, also before a path outside §4. Then come the endpoint's rate, its plan, its parameters; at step 1 quota, storage and upload node.",
  },
  {
    at: '§7',
    says: 'A deletion that the host fails at is DELETE_FAILED. Any other fault of the host is INTERNAL_ERROR, with status 500.',
  },
  { at: '§8', says: 'A character of a name is a code point.' },
  { at: '§8', says: 'A second is any 1000 ms. The largest number of requests is that of --rates.' },
  { at: '§8', says: "The quota's day begins as --day-begins says." },
  {
    at: '§8',
    says: 'The largest file and the storage of each plan are those of --max-file-size and --storage-limit.',
  },
  {
    at: '§8',
    says: 'An image counts for the day on which its credential was issued. A deleted image still counts.',
  },
  { at: '§8', says: 'Step 2 counts for the account that its credential was issued to.' },
  { at: '§8', says: 'Credentials that may still be used count for the storage with what they declare.' },
]
