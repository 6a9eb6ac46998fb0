import { build } from '../scripts/build.ts'

/** The tests that start the program start what is shipped. */
export default build
