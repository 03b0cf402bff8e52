// The language of the page: of the link or address (?lang=de), or in the portal of the browser.

import { asked, isPortal } from './session'

const languages = ['en', 'de'] as const
export type Language = (typeof languages)[number]

const known = (tag: string | null | undefined) => languages.find((l) => tag?.toLowerCase().split('-')[0] === l)

export const language: Language = known(asked('lang')) ?? (isPortal ? navigator.languages.map(known).find(Boolean) : undefined) ?? 'en'

/** The form of dates and numbers: the language as the browser has it, such as en-GB. */
export const locale = navigator.languages.find((tag) => known(tag) === language) ?? language

document.documentElement.lang = locale
