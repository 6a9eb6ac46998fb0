/** Runs contestants side by side; returns each one's results by round. Every other round goes backwards, to be fair. */
export async function inRounds<Name extends string, Result>(
  rounds: number,
  contestants: Readonly<Record<Name, () => Promise<Result>>>,
): Promise<Record<Name, Result[]>> {
  const names = Object.keys(contestants) as Name[]
  const results = Object.fromEntries(names.map(name => [name, []])) as unknown as Record<Name, Result[]>
  for (let round = 0; round < rounds; round++)
    for (const name of round % 2 === 0 ? names : names.toReversed())
      results[name].push(await contestants[name]())
  return results
}
