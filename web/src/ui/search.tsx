import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Search as Magnifier } from 'lucide-react'
import { type FormEvent, type KeyboardEvent, useId, useLayoutEffect, useRef, useState } from 'react'
import { api, type ApiError, ask, type Schemas } from '../api/client'
import { session } from '../session'
import { failureOf, text } from '../text'
import { Button } from './controls'
import { StateBadge } from './delivery'
import { Dialog } from './dialog'
import { Badge } from './page'
import { deliveryPath } from './paths'
import { useTyped } from './suggest'
import { Time } from './time'

const t = text.search

type Found = Schemas['Found']

/** The query for what a text names: in the tenant, or, without one, in all tenants. */
const searchFor = (tenant: string | undefined, q: string) =>
  queryOptions({
    queryKey: ['search', tenant, q],
    queryFn: async () => {
      const { data } = await ask(
        tenant ? api().GET('/v1/tenants/{tenant}/search', { params: { path: { tenant }, query: { q } } }) : api().GET('/v1/search', { params: { query: { q } } }),
      )
      return data
    },
    staleTime: 5_000,
    retry: false,
  })

function pathOf({ kind, id, tenant }: Found): string {
  switch (kind) {
    case 'event':
      return `/t/${tenant}/events/${id}`
    case 'delivery':
      return deliveryPath(tenant, id)
    case 'endpoint':
      return `/t/${tenant}/endpoints/${id}`
    case 'replay':
      return `/t/${tenant}/replays/${id}`
    case 'tenant':
      return `/t/${tenant}`
  }
}

const failed = (e: ApiError) => (e.status === 400 ? t.tooLong : failureOf(e))

const shortcut = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘K' : 'Ctrl K'

/** The search in the tenant, or, without one, in all tenants. A button and Ctrl-K (⌘K) open it. */
export function Search({ tenant }: { tenant?: string }) {
  const [open, setOpen] = useState(false)
  const [everywhere, setEverywhere] = useState(false)
  const went = useRef(false)
  const within = everywhere ? undefined : tenant
  // When the search led to a page, its content gets the focus. The dialog would give it to the first link.
  const focusNext = () => {
    if (went.current) document.getElementById('main')?.focus()
    return !went.current
  }
  const show = () => {
    went.current = false
    setEverywhere(false)
    setOpen(true)
  }
  // Before the button is painted: who sees it may press the keys.
  useLayoutEffect(() => {
    const press = (e: globalThis.KeyboardEvent) => {
      if (e.key.toLowerCase() !== 'k' || !(e.ctrlKey || e.metaKey) || e.altKey || e.shiftKey) return
      e.preventDefault()
      if (!document.querySelector('.dialog')) show()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
  return (
    <>
      <button type="button" className="search" aria-haspopup="dialog" aria-keyshortcuts="Control+K Meta+K" onClick={show}>
        <Magnifier size={15} aria-hidden />
        {t.open}
        <kbd aria-hidden>{shortcut}</kbd>
      </button>
      <Dialog title={t.title(within)} open={open} onOpenChange={setOpen} finalFocus={focusNext}>
        <Box
          tenant={within}
          widen={tenant && within && !session()?.tenant ? () => setEverywhere(true) : undefined}
          leave={() => {
            went.current = true
            setOpen(false)
          }}
        />
      </Dialog>
    </>
  )
}

type BoxProps = {
  tenant?: string
  /** Searches all tenants; absent if the session may not, or if the search already does. */
  widen?: () => void
  /** Closes the dialog, because a found page opens. */
  leave: () => void
}

function Box({ tenant, widen, leave }: BoxProps) {
  const [given, setGiven] = useState('')
  const [active, setActive] = useState(0)
  const input = useRef<HTMLInputElement>(null)
  const list = useId()
  const client = useQueryClient()
  const navigate = useNavigate()
  const asked = useTyped(given.trim())
  const answer = useQuery({ ...searchFor(tenant, asked), enabled: asked !== '' })
  const found = (asked && answer.data) || []
  const at = Math.min(active, found.length - 1)

  const submit = async (e: FormEvent) => {
    e.preventDefault()
    const q = given.trim()
    if (!q) return
    const all = await client.fetchQuery(searchFor(tenant, q)).catch(() => []) // the status line shows the failure
    const chosen = all[Math.min(active, all.length - 1)]
    if (!chosen || input.current?.value.trim() !== q) return
    leave()
    void navigate({ to: pathOf(chosen) })
  }
  const move = (e: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key]
    if (!step || !found.length) return
    e.preventDefault()
    setActive((at + step + found.length) % found.length)
  }
  return (
    <form className="stack" onSubmit={(e) => void submit(e)}>
      <input
        ref={input}
        className="input"
        type="text"
        role="combobox"
        aria-label={t.title(tenant)}
        aria-expanded={found.length > 0}
        aria-controls={list}
        aria-activedescendant={found.length ? `${list}-${at}` : undefined}
        aria-autocomplete="list"
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        placeholder={t.placeholder(tenant)}
        value={given}
        onChange={(e) => {
          setGiven(e.currentTarget.value)
          setActive(0)
        }}
        onKeyDown={move}
      />
      <div role="listbox" id={list} aria-label={t.results} className="found" hidden={!found.length}>
        {found.map((f, i) => (
          <Link key={f.kind + f.id} id={`${list}-${i}`} role="option" aria-selected={i === at} tabIndex={-1} to={pathOf(f)} onClick={leave} onPointerMove={() => setActive(i)}>
            <span className="row">
              <Badge tone="calm">{t.kinds[f.kind]}</Badge>
              <strong>{f.name || f.id}</strong>
              {f.state && (f.kind === 'delivery' ? <StateBadge state={f.state} /> : <span className="soft">{text.replays.states[f.state] ?? f.state}</span>)}
            </span>
            <span className="row soft small">
              {f.name && <code>{f.id}</code>}
              {!tenant && f.kind !== 'tenant' && <span>{f.tenant}</span>}
              {f.at && <Time at={f.at} />}
            </span>
          </Link>
        ))}
      </div>
      <div role="status" className="soft">
        {!asked ? t.hint(tenant) : answer.error ? failed(answer.error as ApiError) : !answer.data ? text.loading : found.length ? t.count(found.length) : t.nothing(tenant)}
      </div>
      {widen && answer.data && !found.length && (
        <div className="buttons">
          <Button
            onClick={() => {
              widen()
              input.current?.focus()
            }}
          >
            {t.title()}
          </Button>
        </div>
      )}
    </form>
  )
}
