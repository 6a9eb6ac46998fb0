/** What the desktop needs for a message or its clipboard included. Never the API key, nor where systemd keeps credentials. */
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

/** What of our environment a command of the user's may see. */
export function childEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(KEPT.flatMap(name => (env[name] === undefined ? [] : [[name, env[name]]])))
}
