import { manuals } from './manuals.ts'
import { referencePages } from './pages.ts'

/** Every file that `npm run docs` writes: its path from the checkout on, and its text. */
export async function writtenFiles(): Promise<Record<string, string>> {
  return { ...below('docs/reference', await referencePages()), ...below('man', await manuals()) }
}

function below(folder: string, files: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]))
}
