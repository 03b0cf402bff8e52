import { Link, Outlet, useParams, useRouterState } from '@tanstack/react-router'
import { Activity, BookOpen, Building2, CircleX, FileX, History, Inbox, KeyRound, LayoutDashboard, LogOut, Monitor, Moon, RotateCcw, Send, Sun, Webhook } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { signOutOfPortal } from '../opening'
import { revoke } from '../person'
import { embedded, endSession, isPortal, may, portalName, session } from '../session'
import { text } from '../text'
import { IconButton } from './controls'
import { Mark } from './mark'
import { Badge, type Tone } from './page'
import { Search } from './search'
import { tellFailure } from './toast'
import { applyTheme, theme as keptTheme, type Theme } from './theme'

export function Shell() {
  const main = useRef<HTMLElement>(null)
  const side = useRef<HTMLDivElement>(null)
  const path = useRouterState({ select: (s) => s.location.pathname })
  const tenant = useParams({ strict: false }).tenant ?? session()?.tenant
  const shown = useRef(path)
  const environment = isPortal ? '' : (session()?.environment ?? '').replace(/^surehook-/, '')
  const who = isPortal ? undefined : (session()?.person?.id.replace('user:', '') ?? session()?.caller?.name)
  useEffect(() => {
    if (shown.current === path) return
    shown.current = path
    main.current?.focus() // a reader with a screen reader starts at the new page
    window.scrollTo(0, 0)
  }, [path])
  useEffect(() => {
    // On a phone the menu is a row that scrolls.
    side.current?.querySelector('[aria-current=page]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [path])
  return (
    <div className={`frame ${environment && `in-${toneOf(environment)}`}`}>
      <a className="skip" href="#main">
        {text.skip}
      </a>
      <div className="side" ref={side}>
        {!embedded && (
          <Link to="/" className="brand">
            <Mark />
            {isPortal ? portalName || text.portal : text.brand}
            {environment && <Badge tone={toneOf(environment)}>{environment}</Badge>}
          </Link>
        )}
        {may('read') && <Search tenant={tenant} />}
        <nav aria-label={text.nav.label}>
          {!isPortal && !session()?.tenant && (
            <ul>
              {may('admin') && (
                <Item to="/" icon={<LayoutDashboard size={15} />} exact>
                  {text.nav.overview}
                </Item>
              )}
              <Item to="/tenants" icon={<Building2 size={15} />}>
                {text.nav.tenants}
              </Item>
              <Item to="/event-types" icon={<BookOpen size={15} />}>
                {text.nav.types}
              </Item>
              {may('admin') && (
                <>
                  <Item to="/failures" icon={<CircleX size={15} />}>
                    {text.nav.failures}
                  </Item>
                  <Item to="/rejects" icon={<FileX size={15} />}>
                    {text.nav.rejects}
                  </Item>
                  <Item to="/keys" icon={<KeyRound size={15} />}>
                    {text.nav.keys}
                  </Item>
                </>
              )}
            </ul>
          )}
          {tenant && <TenantItems tenant={tenant} />}
        </nav>
        {who && (
          <p className="who" title={session()?.person?.name ?? session()?.caller?.scopes.join(', ')}>
            {who}
          </p>
        )}
        {!embedded && (
          <div className="foot">
            <ThemeButton />
            <IconButton label={text.signIn.out} onClick={() => void signOut()}>
              <LogOut size={15} />
            </IconButton>
          </div>
        )}
      </div>
      <main className="main" id="main" tabIndex={-1} ref={main}>
        <Outlet />
      </main>
    </div>
  )
}

// The color of an environment: what happens in production reaches customers.
const toneOf = (environment: string): Tone => (/prod|live/i.test(environment) ? 'bad' : /stag|test|pre|qa/i.test(environment) ? 'warn' : 'calm')

// The key of a portal link ends with the session. The key of an operator lives on.
async function signOut() {
  if (isPortal) return signOutOfPortal().catch(tellFailure)
  const left = session()
  endSession('signed_out', left?.key)
  if (left?.person?.refresh) await revoke(left.person.refresh)
  location.assign('/console')
}

function TenantItems({ tenant }: { tenant: string }) {
  return (
    <>
      {!embedded && (
        <p className="group">
          {!isPortal && text.nav.tenant} <strong>{tenant}</strong>
        </p>
      )}
      <ul>
        <Item to={`/t/${tenant}`} icon={<Activity size={15} />} exact>
          {text.nav.overview}
        </Item>
        <Item to={`/t/${tenant}/endpoints`} icon={<Webhook size={15} />}>
          {text.nav.endpoints}
        </Item>
        <Item to={`/t/${tenant}/events`} icon={<Inbox size={15} />}>
          {text.nav.events}
        </Item>
        <Item to={`/t/${tenant}/deliveries`} icon={<Send size={15} />}>
          {text.nav.deliveries}
        </Item>
        <Item to={`/t/${tenant}/dead-letters`} icon={<CircleX size={15} />}>
          {text.nav.dead}
        </Item>
        {may('replay') && (
          <Item to={`/t/${tenant}/replays`} icon={<RotateCcw size={15} />}>
            {text.nav.replays}
          </Item>
        )}
        {session()?.tenant && (
          <Item to="/event-types" icon={<BookOpen size={15} />}>
            {text.nav.types}
          </Item>
        )}
        {may('audit') && (
          <Item to={`/t/${tenant}/changes`} icon={<History size={15} />}>
            {text.nav.audit}
          </Item>
        )}
      </ul>
    </>
  )
}

function Item({ to, icon, exact, children }: { to: string; icon: ReactNode; exact?: boolean; children: ReactNode }) {
  return (
    <li>
      <Link to={to} activeOptions={{ exact, includeSearch: false }}>
        {icon}
        {children}
      </Link>
    </li>
  )
}

const icons = { system: Monitor, light: Sun, dark: Moon }
const following: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' }

function ThemeButton() {
  const [now, setNow] = useState(keptTheme)
  const Icon = icons[now]
  return (
    <IconButton
      label={text.signIn.theme[now]}
      onClick={() => {
        applyTheme(following[now])
        setNow(following[now])
      }}
    >
      <Icon size={15} />
    </IconButton>
  )
}
