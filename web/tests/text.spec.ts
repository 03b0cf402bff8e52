import { globSync, readFileSync } from 'node:fs'
import { expect, test } from '@playwright/test'
import * as de from '../src/text/de'
import { rows, said } from '../src/text/de-api'
import * as en from '../src/text/en'

/** The paths of all words, such as endpoint.tabs.health. */
function paths(words: object, at = ''): string[] {
  return Object.entries(words).flatMap(([name, value]: [string, unknown]) => (value && typeof value === 'object' ? paths(value, `${at}${name}.`) : [at + name]))
}

const english = new Set([...paths(en.words), ...paths(en.customer)])
const german = new Set([...paths(de.words), ...paths(de.customer)])

// The German pages show a missing word in English. The words of operators alone stay English, and names are the same.
const stays = /^(brand|overview|tenants|limits|rejects|keys|changes|form\.(presets|profiles)|deliveries\.statuses)\b/

test('German has all words that the portal has of its own', () => {
  const missing = [...english].filter((path) => !german.has(path) && !stays.test(path))
  console.log(`English in the German pages: ${missing.join(', ')}`)
  expect(paths(en.customer).filter((path) => !german.has(path))).toEqual([])
})

// For some codes the German pages have a sentence in place of the API's English one.
test('German has no word that English lacks', () => {
  expect([...german].filter((path) => !english.has(path) && !path.startsWith('failures.codes.'))).toEqual([])
})

test('German has the sentences that the API says, and quotes others', () => {
  const go = globSync('../internal/**/*.go', { exclude: (name) => name.endsWith('_test.go') }).map((file) => readFileSync(file, 'utf8')).join('\n').replaceAll('%%', '%')
  const literal = (pattern: string) => pattern.split(/\(\?:[^)]*\)\??|\([^)]*\)|\.[+*]|\d+/).map((part) => part.replaceAll('\\', '').trim()).sort((a, b) => b.length - a.length)[0]!
  expect(rows.map(([english]) => literal(english)).filter((part) => !go.includes(part)), 'what the API no longer says').toEqual([])
  expect(said('must be 1s to 30s')).toBe('muss zwischen 1s und 30s liegen')
  expect(said('The endpoint answered 503 Service Unavailable.')).toBe('Der Endpunkt antwortete 503 Service Unavailable.')
  expect(said('line 1: nothing')).toBe('Meldung (englisch): „line 1: nothing“')
})
