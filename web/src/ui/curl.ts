import type { Schemas } from '../api/client'

type Request = Schemas['Preview']['request']

/** The request as HTTP shows it. */
export function requestText({ method, url, headers, body }: Request): string {
  const lines = Object.entries(headers)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}: ${value}`)
  return [`${method} ${url}`, ...lines, '', body].join('\n')
}

/** The request as a command, for a receiver at hand. */
export function curlOf({ url, headers, body }: Request): string {
  const quoted = (value: string) => `'${value.replaceAll("'", `'\\''`)}'`
  const lines = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)
  return [`curl -X POST ${quoted(url)}`, ...lines, `--data-binary ${quoted(body)}`].join(' \\\n  ')
}
