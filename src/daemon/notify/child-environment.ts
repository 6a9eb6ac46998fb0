/** Includes what desktop messages and the clipboard need. Never the API key, nor systemd's folder of credentials. */
const KEPT = [
  'PATH',
  'HOME',
  'LANG',
  'TZ',
  'USER',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
] as const

/** The variables of our environment that a command of the user may see. */
export function childEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(KEPT.flatMap(name => (env[name] === undefined ? [] : [[name, env[name]]])))
}
