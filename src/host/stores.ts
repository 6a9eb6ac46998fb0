import { readPicture } from '../protocol/picture/picture.ts'
import { type Accounts, type Albums, openAccounts, openAlbums } from './data/accounts.ts'
import { type Credentials, openCredentials } from './data/credentials.ts'
import type { Db } from './data/database.ts'
import { type Images, openImages } from './data/images.ts'
import type { HostClock, HostSettings, PictureStore, Random, ReadPicture } from './ports.ts'

export interface HostPorts {
  db: Db
  pictures: PictureStore
  clock: HostClock
  random: Random
  /** Reads a picture from its bytes. Left out: `readPicture` of the protocol. */
  readPicture?: ReadPicture
}

/** What the operations of §4 work with: clock, database tables, pictures and settings. Made once, when the host starts. */
export interface Stores extends Required<HostPorts> {
  settings: HostSettings
  accounts: Accounts
  albums: Albums
  images: Images
  credentials: Credentials
}

export function openStores(ports: HostPorts, apiKeys: readonly string[], settings: HostSettings): Stores {
  return {
    readPicture,
    ...ports,
    settings,
    accounts: openAccounts(ports, apiKeys),
    albums: openAlbums(ports),
    images: openImages(ports.db),
    credentials: openCredentials(ports.db, settings),
  }
}
