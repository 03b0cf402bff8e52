// Reads JSON as text. JSON.parse would change large numbers.

export type Token = { kind: 'key' | 'string' | 'literal' | 'plain'; text: string }

const lexer = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/** Formats a JSON text with an indent of two, without a change of any token. */
export function pretty(json: string): Token[] {
  const found: Token[] = []
  const push = (kind: Token['kind'], text: string) => found.push({ kind, text })
  const tokens = json.match(lexer) ?? []
  let depth = 0
  const line = () => `\n${'  '.repeat(depth)}`
  tokens.forEach((token, i) => {
    const next = tokens[i + 1]
    if (token === '{' || token === '[') {
      depth++
      push('plain', next === '}' || next === ']' ? token : token + line())
    } else if (token === '}' || token === ']') {
      depth--
      push('plain', tokens[i - 1] === '{' || tokens[i - 1] === '[' ? token : line() + token)
    } else if (token === ',') push('plain', token + line())
    else if (token === ':') push('plain', ': ')
    else if (token.startsWith('"')) push(next === ':' ? 'key' : 'string', token)
    else push('literal', token)
  })
  return found
}

/** The same as text. */
export const indented = (json = '') =>
  pretty(json)
    .map((token) => token.text)
    .join('')

/**
 * Returns the payload of an event, byte for byte. The payload is the last field of the
 * answer, and no text before it can hold an unescaped quote.
 */
export function payloadOf(answer: string): string {
  const name = '"payload":'
  const at = answer.indexOf(name)
  return at < 0 ? '' : answer.slice(at + name.length, answer.lastIndexOf('}'))
}

/** Returns the text of a field of a JSON object, without white space; empty without the field. */
export function fieldOf(json: string, name: string): string {
  const tokens = json.match(lexer) ?? []
  let depth = 0
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]
    if (token === '{' || token === '[') depth++
    else if (token === '}' || token === ']') depth--
    else if (depth === 1 && token === JSON.stringify(name) && tokens[i + 1] === ':') return valueAt(tokens, i + 2)
  }
  return ''
}

function valueAt(tokens: string[], start: number): string {
  let depth = 0
  for (let i = start; i < tokens.length; i++) {
    if (tokens[i] === '{' || tokens[i] === '[') depth++
    else if (tokens[i] === '}' || tokens[i] === ']') depth--
    if (depth === 0) return tokens.slice(start, i + 1).join('')
  }
  return ''
}
