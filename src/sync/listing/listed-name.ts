/** The name without what hosts may change when they list it: its Unicode form, and blanks around it. */
export function plainName(name: string): string {
  return name.normalize().trim()
}
