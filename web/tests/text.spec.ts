import { expect, test } from '@playwright/test'
import * as de from '../src/text/de'
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
