/** Seeds that have found something, and what. Each stands for its history only as long as `history.ts` draws alike. */
export const REGRESSIONS: Readonly<Record<number, string>> = {
  136: 'a new folder was never found where the process died before its first look',
  370: 'images were deleted before every folder had been looked at',
  151: 'a refused key that was met while an upload was looked for was never tried again',
  181: 'a full storage that one of two uploads met was never tried again',
  5759: 'a moved picture that was only linked at its new place lost the only image of its bytes',
  6066: 'a mirror whose only records were hidden trusted another root',
  6384: 'a file that was touched while its upload was in doubt stayed in doubt for ever',
  898: 'of twin albums the one without our pictures was taken',
  983: 'a file changed under its old size and time, while its upload was in doubt, was never sent',
  33760: 'a picture was sent from a root that was replaced after the scan',
  3023016: 'an album was forgotten before those that were recorded in it',
  3038164: 'two folders that were swapped and swapped back while they were scanned were taken for unchanged',
  3049320: 'a deletion that never left counted as one that may have been done',
  3070743: 'deletions went on though their root was emptied meanwhile',
  3083169: "a new version waited for ever for the old one's image, where nothing could tell which it was",
  5011092: 'an old version stayed where its picture came back with other bytes',
  6024226: 'a replaced file whose upload was in doubt did not keep the image of its bytes',
  6046464: 'one of two look-alikes was taken for an upload by a listing that lacked the other',
  6258012: 'an image that was linked to a wrong picture was refused to the right one for ever',
  7420552: 'a root that was replaced between two looks at it passed for the one it was',
  30328: 'uploads stopped for ever where another person deleted the default album',
  10035130: 'after a lost state what lay in the default album was sent again: only the root was counted',
  11001390: 'two walks of a listing without order lacked the same picture, and it was sent again',
  12531624:
    "another person's look-alike was taken for an upload by two walks that were not one after the other",
  12639516: 'an upload whose bytes had the address of an image of ours was taken for a look-alike',
  14000242:
    'a picture that was never sent and that somebody wrote over was sent half, for it ended with the old end',
  14002352: 'a clock that was set made room that was reserved for a picture look old, and it was sent',
  14005992: 'deletions went on though a folder had just proved to be unreadable',
  1000000742: 'stamps of whole seconds made a picture look settled while it was written',
  14100360:
    'the judge wanted a dry run to know that a changed picture was there already, sent by another person',
  16511174: 'a quota that was used up while something else ended the uploads was asked about again at once',
  1000000021: 'a deletion that was found before albumd was killed waited for as long again as it had run',
  1000000034:
    'a backup of the root was believed to lack nothing, though an upload of what it lacked was in doubt',
  1000000035:
    'a backup of a folder was believed to lack nothing, though an upload of what it lacked was in doubt',
  1000000037: 'what was sent again on a word was sent once more after an older state was put back',
  1000000106: 'a repair deleted images though a person had paused albumd meanwhile',
  1000000108: 'a repair sent again what lay in a default album that nobody had learned of',
  22025948: 'a repair sent again what two whole walks lacked that had another between them',
  23034174: 'where equal bytes had one id, another mirror deleted an image that a backup had had',
  40028427: 'a person who prunes gave up what a folder held that no rule hid any more',
  27018852: 'what was hidden and then deleted with its folder stayed on the host for ever',
  22048176: 'a repair sent again what lay in an album that the host had once denied, and that was made anew',
  23018350: 'a clock that was set forward made an image look old that was only listed late',
  1000000603: 'a repair sent again what two walks lacked that were not one after the other',
  1000000009: 'a folder that was emptied while it was looked at seemed to hold what had been met first',
  1000000010: 'an ignore file that had just vanished was believed to be gone by the second look of one pass',
  1000000011: 'a quota was used up for as long as the clock that had said so was set back',
  1000000018: 'what was hidden and given up while its upload was in doubt stayed on the host for ever',
  1000000019: 'a folder that came back without its ignore file in the pass that had missed it was believed',
  100035557: 'where a host lists late, everything was listed after each upload without an album',
  80012071: 'a picture that was renamed while somebody wrote over it was taken for whole',
  27017557: 'an album made where nobody could look kept the one that was there before from being looked into',
  27013051: "a day that began in the middle of a pass gave its reserve to the day before's new pictures",
  530000042: 'an image of a machine whose clock was behind counted as one of others after its deletion',
  210062747: 'an audit overlooked what was recorded while the clock was ahead',
  300008256:
    'the judge took what the host had refused to delete for gone, and the other image of its bytes for the last',
  600014589:
    'what came to a folder at the very time at which a copy was made had been deleted, where the copy came back',
  1500000591:
    'the judge took a folder in which no picture was as recorded for an older copy, which nobody can tell from one made anew',
  1500000040:
    'the judge wanted a dry run to know that the host puts a new version into the image of the old one',
  1500001520:
    'the judge wanted a dry run to know of images that the host lists before their bytes are there, and whose answers were lost',
  1500001568:
    'a changed picture was sent in each pass where the host encodes anew, and puts it into the image of the old one',
  2000060886:
    'an image was deleted though the last look at another one had met an ignore file that can not be read',
  2000061962:
    'an older version whose upload was found out was deleted without a look at the path that its file left',
  2000061715:
    'where images are not counted rightly, the deletion of what was gone was asked for once an hour, for ever',
  2000061610: 'an audit called foreign what an upload in doubt had sent to a host that encodes anew',
  2000020337: 'the judge took a clock that was set back before a `sync` for a grace that was cut short',
  2000000748:
    'the judge wanted albumd to know of an upload that came late and was answered with what the host had kept of a deletion',
  1500000701:
    'of two albums that a host lists under one name none was known after a lost state, and a third was made',
  1500000884:
    'albums that a host lists under one name, and whose images look alike, were made again after a lost state',
  1500002724:
    'a changed picture was sent in each pass where the host delivers nothing, and puts it into the image of the old one',
  1500001705: 'the simulation let a restore bring back a half picture, which no host ever had',
  1000000415: 'the clock was trusted only once an age was asked for, so a repair gave no lost picture back',
  2000040384:
    'after a lost state a shrunk picture was sent again, for a smaller one was delivered as it was sent',
  2000040832: 'the same as in 2000040384',
  2000041674: 'the same as in 2000040384',
  2000040729: 'the same as in 2000040384',
  2000061604: 'the same as in 2000040384',
  2000000750: 'the same as in 2000040384',
  2000060819: 'a picture that had just shown that its format is still refused was sent once more in its pass',
  2000101058:
    'the judge knew an image by its name alone, where the host lists it under one that another picture of its bytes has too',
  2000060946:
    'what had arrived of an upload without an answer was taken for another picture, for a host listed another size of it',
  2000061269: 'the same as in 2000060946',
  2000061934: 'the same as in 2000060946',
  2000100462: 'the same as in 2000060946',
  2000102499: 'the judge wanted nothing asked about a format that came to be due while a pass went on',
  2000100532:
    'an album that was asked for and listed as another may be was taken for the one of another folder',
  2000301690: 'the judge counted a half picture among those that the host had refused for their format',
  1500200727: 'the judge wanted a deletion to end while its folder waited for a person to trust it',
  2000100584: 'the judge wanted a dry run to know that an image is gone that the host refuses to delete',
  2000500517: 'the judge knew an album by its name alone, where the host lists that of another folder alike',
  2000501989:
    'the judge wanted an album to be made that the host lists like the one of a folder that was away while the state was lost',
  2000501412:
    'the judge wanted an empty album, which the host lists like another, to be known after a lost state',
  2000502276: 'the judge wanted an image kept for a picture that a person had given up just before',
  2000600409:
    'the judge wanted a picture sent whose name has the type that the host refuses, though all seem to be refused',
  2000700083:
    'a folder that an older copy lacked was made anew with a new picture, so that the doubt of the copy ended and its images went',
  2000602211:
    'what had arrived was left to nobody: the only record that showed how addresses are built had gone meanwhile',
  2000801427:
    'each image of an album counted for a folder of one picture, which took the album of another after a lost state',
  2001301715:
    'the judge wanted an image known for that of one of two equal pictures, which the host lists under one name',
  2001301842:
    'an older copy counted as a folder made anew, for all that it showed had been deleted there before',
  500100565:
    'of a store that was put back twice a machine got an album that another had been given since, and lost it again',
  2001800086: 'the same as in 2001301842, for all that it showed could never be sent',
  2004000276:
    'an older version arrived late, in the place of a newer one, which counted as there: the host takes metadata away',
  1500601775: 'the same as in 2004000276, where the host encodes pictures anew',
  2006000281:
    'a picture was sent again and again whose image the host put into the one that a person had kept of its name',
  2006000077:
    'a picture was sent again and again that the host put into its old image, of which it tells and delivers too little',
  2007005415:
    'after a lost state an album went to another folder that the host lists alike, while its own could not be read',
  2007004014: 'a repair sent again what a host that lists late had just taken, and delivered encoded anew',
  5000000036:
    'the judge wanted an older copy to be in doubt for an upload that had turned out never to have arrived',
  2012000702: 'the judge counted a picture of a refused format as asked about whose refusal nobody had heard',
  2030200957: 'the judge wanted what a rule hides pruned, of which there was no record but of its image',
  2030012041: 'the same as in 2001301715, where the image of one is deleted',
  2060001429:
    'after a lost state two albums that a host lists under one name were taken for each other, and so were their pictures',
  3000001113: "the judge wanted another person's empty album to be known, which the host lists like another",
}
