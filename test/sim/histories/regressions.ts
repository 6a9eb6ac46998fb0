/**
 * Seeds that have found something, and what it was. A seed stands for its history as long as `history.ts` draws alike;
 * they are worth keeping all the same.
 */
export const REGRESSIONS: readonly { seed: number; found: string }[] = [
  { seed: 136, found: 'a new folder was never found where the process died before its first look' },
  { seed: 370, found: 'images were deleted before every folder had been looked at' },
  { seed: 151, found: 'a refused key that was met while an upload was looked for was never tried again' },
  { seed: 181, found: 'a full storage that one of two uploads met was never tried again' },
  {
    seed: 5759,
    found: 'a moved picture that was only linked at its new place lost the only image of its bytes',
  },
  { seed: 6066, found: 'a mirror whose only records were hidden trusted another root' },
  { seed: 6384, found: 'a file that was touched while its upload was in doubt stayed in doubt for ever' },
  { seed: 898, found: 'of twin albums the one without our pictures was taken' },
  {
    seed: 983,
    found: 'a file changed under its old size and time, while its upload was in doubt, was never sent',
  },
  { seed: 33760, found: 'a picture was sent from a root that was replaced after the scan' },
  { seed: 3023016, found: 'an album was forgotten before those that were recorded in it' },
  {
    seed: 3038164,
    found: 'two folders that were swapped and swapped back while they were scanned were taken for unchanged',
  },
  { seed: 3049320, found: 'a deletion that never left counted as one that may have been done' },
  { seed: 3070743, found: 'deletions went on though their root was emptied meanwhile' },
  {
    seed: 3083169,
    found: "a new version waited for ever for the old one's image, where nothing could tell which it was",
  },
  { seed: 5011092, found: 'an old version stayed where its picture came back with other bytes' },
  { seed: 6024226, found: 'a replaced file whose upload was in doubt did not keep the image of its bytes' },
  {
    seed: 6046464,
    found: 'one of two look-alikes was taken for an upload by a listing that lacked the other',
  },
  {
    seed: 6258012,
    found: 'an image that was linked to a wrong picture was refused to the right one for ever',
  },
  { seed: 7420552, found: 'a root that was replaced between two looks at it passed for the one it was' },
  { seed: 30328, found: 'uploads stopped for ever where another person deleted the default album' },
  {
    seed: 10035130,
    found: 'after a lost state what lay in the default album was sent again: only the root was counted',
  },
  {
    seed: 11001390,
    found: 'two walks of a listing without order lacked the same picture, and it was sent again',
  },
  {
    seed: 12531624,
    found:
      "another person's look-alike was taken for an upload by two walks that were not one after the other",
  },
  {
    seed: 12639516,
    found: 'an upload whose bytes had the address of an image of ours was taken for a look-alike',
  },
  {
    seed: 14000242,
    found:
      'a picture that was never sent and that somebody wrote over was sent half, for it ended with the old end',
  },
  {
    seed: 14002352,
    found: 'a clock that was set made room that was reserved for a picture look old, and it was sent',
  },
  {
    seed: 14005992,
    found: 'deletions went on though a folder had just proved to be unreadable',
  },
  {
    seed: 14006333,
    found: 'stamps of whole seconds made a picture look settled while it was written',
  },
  {
    seed: 16511174,
    found: 'a quota that was used up while something else ended the uploads was asked about again at once',
  },
  {
    seed: 1_000_000_021,
    found: 'a deletion that was found before albumd was killed waited for as long again as it had run',
  },
  {
    seed: 1_000_000_106,
    found: 'a repair deleted images though a person had paused albumd meanwhile',
  },
  {
    seed: 1_000_000_108,
    found: 'a repair sent again what lay in a default album that nobody had learned of',
  },
  {
    seed: 22025948,
    found: 'a repair sent again what two whole walks lacked that had another between them',
  },
  {
    seed: 23034174,
    found: 'where equal bytes had one id, another mirror deleted an image that a backup had had',
  },
  {
    seed: 40028427,
    found: 'a person who prunes gave up what a folder held that no rule hid any more',
  },
  {
    seed: 27018852,
    found: 'what was hidden and then deleted with its folder stayed on the host for ever',
  },
  {
    seed: 22048176,
    found: 'a repair sent again what lay in an album that the host had once denied, and that was made anew',
  },
  {
    seed: 23018350,
    found: 'a clock that was set forward made an image look old that was only listed late',
  },
  {
    seed: 1_000_000_124,
    found: 'a repair sent again what two walks lacked that were not one after the other',
  },
  {
    seed: 1_000_000_009,
    found: 'a folder that was emptied while it was looked at seemed to hold what had been met first',
  },
  {
    seed: 1_000_000_010,
    found: 'an ignore file that had just vanished was believed to be gone by the second look of one pass',
  },
  {
    seed: 1_000_000_011,
    found: 'a quota was used up for as long as the clock that had said so was set back',
  },
  {
    seed: 1_000_000_018,
    found: 'what was hidden and given up while its upload was in doubt stayed on the host for ever',
  },
  {
    seed: 1_000_000_019,
    found: 'a folder that came back without its ignore file in the pass that had missed it was believed',
  },
  {
    seed: 100035557,
    found: 'where a host lists late, everything was listed after each upload without an album',
  },
  { seed: 80012071, found: 'a picture that was renamed while somebody wrote over it was taken for whole' },
  {
    seed: 27017557,
    found: 'an album made where nobody could look kept the one that was there before from being looked into',
  },
  {
    seed: 27013051,
    found: "a day that began in the middle of a pass gave its reserve to the day before's new pictures",
  },
  { seed: 210062747, found: 'an audit overlooked what was recorded while the clock was ahead' },
]
